#!/usr/bin/python3
"""A client of the Kubernetes CRI (runtime.v1) with what the tests need, on Debian's python3-grpcio.

cri.py METHOD [JSON]                one call; prints the response as JSON
cri.py start POD SANDBOX CONTAINER  creates and starts a container (both configs as JSON); its id
cri.py once POD SANDBOX CONTAINER   runs one to its end: its log, its exit code; removes it

$CRI_SOCKET is the server's. A refusal is printed as it comes, with status 125.
"""
import json
import os
import re
import sys
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

# A message a line: NAME FIELD=NUMBER:TYPE...; "*TYPE" is repeated.
MESSAGES = """
Id32 value=1:int64
Capability add_capabilities=1:*string
NamespaceOption network=1:int32 pid=2:int32 ipc=3:int32 target_id=4:string
PodMetadata name=1:string uid=2:string namespace=3:string attempt=4:uint32
SandboxSecurity namespace_options=1:NamespaceOption privileged=6:bool
SandboxLinux cgroup_parent=1:string security_context=2:SandboxSecurity
PodSandboxConfig metadata=1:PodMetadata log_directory=3:string linux=8:SandboxLinux
ContainerMetadata name=1:string attempt=2:uint32
ImageSpec image=1:string
Mount container_path=1:string host_path=2:string readonly=3:bool
Resources cpu_period=1:int64 cpu_quota=2:int64 memory_limit_in_bytes=4:int64
Security capabilities=1:Capability privileged=2:bool namespace_options=3:NamespaceOption run_as_user=5:Id32
ContainerLinux resources=1:Resources security_context=2:Security
ContainerConfig metadata=1:ContainerMetadata image=2:ImageSpec command=3:*string mounts=7:*Mount log_path=11:string tty=14:bool linux=15:ContainerLinux
RunPodSandboxRequest config=1:PodSandboxConfig runtime_handler=2:string
RunPodSandboxResponse pod_sandbox_id=1:string
StopPodSandboxRequest pod_sandbox_id=1:string
StopPodSandboxResponse
RemovePodSandboxRequest pod_sandbox_id=1:string
RemovePodSandboxResponse
PodNetwork ip=1:string
PodSandboxStatus id=1:string state=3:int32 network=5:PodNetwork
PodSandboxStatusRequest pod_sandbox_id=1:string
PodSandboxStatusResponse status=1:PodSandboxStatus
CreateContainerRequest pod_sandbox_id=1:string config=2:ContainerConfig sandbox_config=3:PodSandboxConfig
CreateContainerResponse container_id=1:string
StartContainerRequest container_id=1:string
StartContainerResponse
StopContainerRequest container_id=1:string timeout=2:int64
StopContainerResponse
RemoveContainerRequest container_id=1:string
RemoveContainerResponse
ContainerStatus id=1:string state=3:int32 exit_code=7:int32
ContainerStatusRequest container_id=1:string
ContainerStatusResponse status=1:ContainerStatus
ExecSyncRequest container_id=1:string cmd=2:*string timeout=3:int64
ExecSyncResponse stdout=1:bytes stderr=2:bytes exit_code=3:int32
Condition type=1:string status=2:bool
RuntimeStatus conditions=1:*Condition
StatusRequest
StatusResponse status=1:RuntimeStatus
"""
EXITED = 2
F = descriptor_pb2.FieldDescriptorProto


def read_messages():
    file = descriptor_pb2.FileDescriptorProto(name='cri', package='runtime.v1', syntax='proto3')
    for line in MESSAGES.split('\n')[1:-1]:
        name, *fields = line.split()
        message = file.message_type.add(name=name)
        for field in fields:
            key, number, many, kind = re.fullmatch(r'(\w+)=(\d+):(\*?)(\w+)', field).groups()
            f = message.field.add(name=key, number=int(number))
            f.label = F.LABEL_REPEATED if many else F.LABEL_OPTIONAL
            if kind[0].isupper():
                f.type, f.type_name = F.TYPE_MESSAGE, '.runtime.v1.' + kind
            else:
                f.type = F.Type.Value('TYPE_' + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return lambda name: factory.GetPrototype(pool.FindMessageTypeByName('runtime.v1.' + name))


message = read_messages()
channel = grpc.insecure_channel('unix://' + os.environ['CRI_SOCKET'],
                                options=[('grpc.enable_http_proxy', 0)])


def call(method, **request):
    sent = json_format.ParseDict(request, message(method + 'Request')())
    send = channel.unary_unary('/runtime.v1.RuntimeService/' + method,
                               request_serializer=lambda m: m.SerializeToString(),
                               response_deserializer=message(method + 'Response').FromString)
    return send(sent, timeout=60)


def start(pod, sandbox, container):
    c = call('CreateContainer', pod_sandbox_id=pod, config=container,
             sandbox_config=sandbox).container_id
    try:
        call('StartContainer', container_id=c)
    except grpc.RpcError:
        call('RemoveContainer', container_id=c)
        raise
    return c


def wait(c):
    end = time.monotonic() + 60
    while True:
        status = call('ContainerStatus', container_id=c).status
        if status.state == EXITED:
            return status.exit_code
        if time.monotonic() > end:
            sys.exit(f'{c} does not end')
        time.sleep(0.02)


def once(pod, sandbox, container):
    c = start(pod, sandbox, container)
    code = wait(c)
    with open(sandbox['log_directory'] + '/' + container['log_path']) as log:
        print(re.sub(r'^\S+ std(out|err) [FP] ', '', log.read(), flags=re.M), end='')
    call('RemoveContainer', container_id=c)
    return code


def main(what, *args):
    args = [json.loads(a) if a.startswith('{') else a for a in args]
    if what == 'start':
        print(start(*args))
    elif what == 'once':
        return once(*args)
    else:
        print(json_format.MessageToJson(call(what, **(args[0] if args else {})),
                                        preserving_proto_field_name=True,
                                        including_default_value_fields=True))
    return 0


try:
    sys.exit(main(*sys.argv[1:]))
except grpc.RpcError as e:
    print(e.details(), file=sys.stderr)
    sys.exit(125)
