#!/bin/sh
# pip: a wheel of our own into a virtual environment, without any network.
set -eu
/usr/bin/python3 -m venv env
env/bin/python - <<'END'
import base64, hashlib, zipfile
info = "greet-1.0.dist-info"
files = {
    "greet.py": "def main():\n    print('hello from a wheel')\n",
    info + "/METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
    info + "/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    info + "/entry_points.txt": "[console_scripts]\ngreet = greet:main\n",
}
def row(name, text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(text)}\n"
record = "".join(row(*f) for f in files.items()) + info + "/RECORD,,\n"
with zipfile.ZipFile("greet-1.0-py3-none-any.whl", "w") as z:
    for name, text in [*files.items(), (info + "/RECORD", record)]:
        z.writestr(name, text)
END
env/bin/pip install -q --no-index --disable-pip-version-check ./greet-1.0-py3-none-any.whl
[ "$(env/bin/greet)" = 'hello from a wheel' ]
env/bin/pip list --disable-pip-version-check 2>/dev/null | grep -q '^greet '
echo passed
