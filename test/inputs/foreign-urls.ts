/** URLs and addresses that a client or an administrator may enter, and that the gateway must never request. */

const list = (text: string): string[] => text.trim().split(/\s+/);

/**
 * Hosts as they are written in a URL. In a test stack 127.0.0.1 is trusted (JWKS_TRUSTED_HOSTS), so the spellings of the loopback address are
 * of 127.0.0.2.
 */
const HOSTS = [
  ...list(`
    127.0.0.2 127.2 0x7f.2 0x7f000002 2130706434 0177.0.0.2 017700000002 127.0.0.2. 0 0.0.0.0
    10.0.0.1 10.0.0.1:8443 172.16.0.1 192.168.0.1 100.64.0.1 192.0.2.1 8.8.8.8 255.255.255.255
    169.254.169.254 169.254.169.254. 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 2852039166 100.100.100.200
    %31%30.0.0.1 １２７.０.０.２ 127。0。0。2 ①⑩.0.0.1
    [::1] [::] [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [fe80::1] [fd00:ec2::254] [64:ff9b::a9fe:a9fe] [2002:7f00:2::]
    [2606:4700::1]
    localhost LOCALHOST. localhost.. a.localhost ｌocalhost
    metadata metadata. intranet metadata.google.internal metadata.google.internal. metadata.google.internal..
    printer.local kubernetes.default.svc.cluster.local db.corp nas.lan nas.home router.home.arpa x.intranet x.private
    1.0.0.127.in-addr.arpa abc.onion x.alt a..example.org .example.org
  `),
] as const;

/** Each is refused by its text. */
export const FORBIDDEN_URLS: readonly string[] = [
  ...HOSTS.map((host) => `https://${host}/hook`),
  ...list(`
    http://hooks.example.org/ http://127.0.0.1/ ftp://hooks.example.org/ file:///etc/passwd gopher://hooks.example.org/ data:,x
    javascript:0 ws://hooks.example.org/ hooks.example.org //hooks.example.org/ https:// https://[fe80::1%25eth0]/ https://[::1/
    https://hooks.example.org:65536/ https://user@hooks.example.org/ https://user:password@hooks.example.org/
    https://:password@hooks.example.org/ https://hooks.example.org@10.0.0.1/ https://10.0.0.1\\@hooks.example.org/
    https://hooks.example.org/#a https://hooks.example.org/#
  `),
  ' https://10.0.0.1/',
  'https://10.0.\t0.1/',
  'https://10.0.0.1\n/',
  '\u0001https://10.0.0.1/',
];

/** The hosts of these URLs as an administrator may list them: in the spelling of a URL parser, with the port. */
export const FORBIDDEN_HOSTS: readonly string[] = [...new Set(HOSTS.map((host) => new URL(`https://${host}/`).host))];

export const ALLOWED_URLS: readonly string[] = list(`
  https://hooks.example.org/jwks https://hooks.example.org:8443/a?b=c https://1.example.org/ https://hooks.example.org./
  https://local.example.org/ https://10.0.0.1.example.org/ https://xn--krper-jua.example.org/
`);

/** The answers of DNS for a good name: one of each of IANA's special-purpose ranges, other spellings, and text. */
export const PRIVATE_ADDRESSES: readonly string[] = [
  ...list(`
    0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1
    203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::8.8.8.8 ::ffff:8.8.8.8 ::ffff:127.0.0.1
    64:ff9b::808:808 64:ff9b:1::1 100::1 fe80::1 fec0::1 fd00::1 fc00::1 ff02::1 2001::1 2001:1ff::1
    2001:db8::1 5f00::1 2002:7f00:1::1 2002:808:808::1 3fff:0:1:: example.org 1.2.3 a:b 0177.0.0.1
  `),
  '',
];

/** Their neighbours. */
export const PUBLIC_ADDRESSES: readonly string[] = list(`
  8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 172.15.0.1 172.32.0.1 192.0.3.1 192.167.1.1 100.63.255.255
  100.128.0.0 223.255.255.255 198.17.0.1 198.20.0.1 2606:4700::1 2001:4860:4860::8888 2a00::1 2001:200::1
  2001:db9:: 2003::1 3fff:1000::1
`);
