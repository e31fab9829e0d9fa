fn ids(token: &str) -> [i64; 50] {
    let mut ids = [261; 50];
    ids[0] = 259;
    let bytes: Vec<i64> = match token {
        "<S>" => vec![257],
        "</S>" => vec![258],
        _ => token.bytes().take(48).map(|byte| byte as i64 + 1).collect(),
    };
    ids[1..=bytes.len()].copy_from_slice(&bytes);
    ids[bytes.len() + 1] = 260;
    ids
}
fn main() { for t in std::env::args().skip(1) { println!("{:?}", ids(&t)); } }
