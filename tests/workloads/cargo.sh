#!/bin/sh
# cargo: build, test and run of a crate without dependencies, offline.
set -eu
export CARGO_HOME="$HOME/.cargo" CARGO_NET_OFFLINE=true
cargo init -q --vcs none --name local crate && cd crate
cat >src/main.rs <<'END'
use std::{process::Command, sync::mpsc, thread};

fn sum() -> u32 {
    let (tx, rx) = mpsc::channel();
    for i in 0..10u32 {
        let tx = tx.clone();
        thread::spawn(move || tx.send(i).unwrap());
    }
    drop(tx);
    rx.iter().sum()
}

fn main() {
    let out = Command::new("echo").arg("hi").output().unwrap();
    print!("{} {}", sum(), String::from_utf8(out.stdout).unwrap());
}

#[test]
fn sums() {
    assert_eq!(sum(), 45);
}
END
cargo build -q && cargo test -q && [ "$(cargo run -q)" = '45 hi' ]
