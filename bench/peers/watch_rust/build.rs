// The versions that Cargo.lock names, for the program to print.
fn main() {
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    for package in ["kube", "k8s-openapi"] {
        let version = lock
            .split("[[package]]")
            .find(|p| p.contains(&format!("\nname = \"{package}\"\n")))
            .and_then(|p| p.split("version = \"").nth(1))
            .and_then(|p| p.split('"').next())
            .unwrap_or("unknown");
        println!("cargo:rustc-env=VERSION_OF_{}={version}", package.replace('-', "_"));
    }
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let said = std::process::Command::new(compiler).arg("--version").output();
    let said = said.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    let how = if level == "0" { ", not optimised" } else { "" };
    println!("cargo:rustc-env=COMPILER={}{how}", said.unwrap_or("rustc".into()));
    println!("cargo:rerun-if-changed=Cargo.lock");
}
