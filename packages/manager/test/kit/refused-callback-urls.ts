// Callback URLs that must be rejected, in every known spelling. Hosts in the lists are prefixed with `http://`.
const hosts: Record<string, string> = {
  'loopback, as numbers': `127.0.0.1 127.0.0.0 127.1.2.3 127.255.255.255 127.1 127.0.1 127.0x1 127.0x0.1 2130706433
    0x7f000001 0X7F000001 0x7f.1 0x7F.0.0.1 0x7f.0x0.0x0.0x1 0x7f.0.0.01 017700000001 0177.0.0.1 0177.1 0177.0.1
    0177.0000.0000.0001 0000177.0.0.1 00000000177.1 127.000.000.001 0x000000007f000001 127.0.0.0x1 127.65535 127.0.65535
    127.0.0.1. 2130706433. 0x7f.1. 127.0.0.1:80 127.0.0.1:8080 0177.1:443`,
  'loopback, in other scripts': `①②⑦.⓪.⓪.① １２７.0.0.1 １２７．０．０．１ 127。0。0。1 127｡0｡0｡1 127．0．0．1 ⑫7.0.0.1 𝟏𝟐𝟕.𝟎.𝟎.𝟏
    𝟙𝟚𝟟.0.0.1 ０x7f.1 ０ｘ７ｆ．１ ²¹³⁰⁷⁰⁶⁴³³ 127.0.0.１ ₁₂₇.0.0.1`,
  'loopback, percent-encoded': `%31%32%37.0.0.1 127%2e0%2e0%2e1 127%2E0.0.1 %31%32%37%2e%30%2e%30%2e%31 %30%78%37%66.1
    127.0.0.1%2e 127%E3%80%820%E3%80%820%E3%80%821 %EF%BC%91%EF%BC%92%EF%BC%97.0.0.1 %32130706433 [%3a%3a1]`,
  'loopback, IPv6': `[::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0:1] [0::1] [::0001] [::0.0.0.1]
    [::1]:8080 [::ffff:127.0.0.1] [::FFFF:127.0.0.1] [::ffff:7f00:1] [::ffff:7f00:0001] [0:0:0:0:0:ffff:127.0.0.1]
    [0:0:0:0:0:ffff:7f00:1] [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1] [::ffff:0:7f00:1] [64:ff9b::127.0.0.1]
    [64:ff9b::7f00:1] [64:ff9b:1::127.0.0.1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:1::1] [2002:7F00:0001::7]`,
  'names of this machine': `localhost LOCALHOST LocalHost localhost. localhost:8080 LOCALHOST.:80 a.localhost
    deep.er.localhost a.localhost. localhost.localdomain localhost.localdomain. localhost4 localhost4.localdomain4
    localhost6 localhost6.localdomain6 ip6-localhost ip6-loopback IP6-Localhost. ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ loc%61lhost
    %6c%6f%63%61%6c%68%6f%73%74 local%C2%ADhost localhost。 localhost%2e ℒocalhost localhoſt`,
  metadata: `169.254.169.254 169.254.169.254. 2852039166 0xa9fea9fe 0xA9.0xFE.0xA9.0xFE 0251.0376.0251.0376 025177524776
    169.254.43518 169.16689662 169.254.0xa9.0376 ①⑥⑨.②⑤④.①⑥⑨.②⑤④ 169%2e254%2e169%2e254 [::ffff:169.254.169.254]
    [::ffff:a9fe:a9fe] [::a9fe:a9fe] [::ffff:0:169.254.169.254] [64:ff9b::169.254.169.254] [64:ff9b::a9fe:a9fe]
    [64:ff9b:1::a9fe:a9fe] [2002:a9fe:a9fe::] 169.254.170.2 169.254.170.23 100.100.100.200 1684301000 0x646464c8
    168.63.129.16 192.0.0.192 [fd00:ec2::254] [fd00:0ec2:0:0::0254] [fd20:ce::254] [fe80::a9fe:a9fe]`,
  'names of metadata services': `metadata metadata. metadata.google.internal METADATA.GOOGLE.INTERNAL
    metadata.google.internal. metadata.goog x.metadata.goog instance-data instance-data.ec2.internal metadata.azure.com
    metadata.azure.internal metadata.tencentyun.com metadata.oraclecloud.com api.metadata.cloud.ibm.com
    metadata.platformequinix.com metadata.packet.net rancher-metadata metadata%2egoog ｍetadata.goog metadata。goog`,
  'link-local': `169.254.0.0 169.254.1.1 169.254.255.255 0xa9fe0101 169.16646401 [fe80::1] [fe80::] [febf:ffff::1]
    [::ffff:169.254.1.1] [64:ff9b::a9fe:101] [2002:a9fe:101::]`,
  private: `10.0.0.0 10.0.0.1 10.255.255.255 10.1 012.1 167772161 0xa000001 172.16.0.1 172.31.255.255 0xac100001
    192.168.0.1 192.168.1.1 192.168.257 192.168.255.255 0300.0250.1.1 3232235777 [::ffff:10.0.0.1] [::ffff:a00:1]
    [::10.0.0.1] [::ffff:0:192.168.1.1] [64:ff9b::10.0.0.1] [64:ff9b::c0a8:101] [64:ff9b:1::172.16.0.1] [2002:a00:1::]
    [2002:c0a8:101::7] [2002:ac10:1::1]`,
  'private, IPv6': `[fc00::] [fc00::1] [fd00::1] [fd12:3456:789a::1] [fdff:ffff::1] [fec0::1] [feff::1]`,
  'shared and for benchmarks': `100.64.0.0 100.64.0.1 100.127.255.255 0x64400001 198.18.0.0 198.18.0.1 198.19.255.255
    [::ffff:100.64.0.1] [2002:c612:1::]`,
  unspecified: `0 0.0 0.0.0.0 00 0x0 0x00000000 0.0.0.0. 0.1.2.3 0.255.255.255 [::] [0:0:0:0:0:0:0:0] [::0.0.0.0]
    [::ffff:0.0.0.0] [64:ff9b::] [2002::] ⓪`,
  'multicast and broadcast': `224.0.0.1 239.255.255.255 0xe0000001 255.255.255.255 4294967295 0xffffffff [ff02::1] [ff00::]
    [ff0e::1] [::ffff:224.0.0.1] [2002:efff:ffff::]`,
  reserved: `192.0.0.1 192.88.99.1 240.0.0.1 250.1.2.3 255.255.255.254 [::ffff:240.0.0.1] [2001:2::1] [2001:10::1] [100::1]
    [1::1] [1fff::1] [4000::1] [5f00::1] [8000::1] [fe00::1] [64:ff9a::7f00:1] [::fffe:127.0.0.1]`,
  tunnels: `[2001::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001:0:a9fe:a9fe::] [fe80::5efe:10.0.0.1]
    [2001:db8::5efe:127.0.0.1] [2a00:1450::200:5efe:7f00:1] [2606:4700::5efe:8.8.8.8] [64:ff9b:1:a9fe:a9:fe00::]
    [64:ff9b:1:1::127.0.0.1]`,
  'names of inner networks': `local internal printer.local backend.svc.cluster.local backend.svc.cluster.local. db.internal
    DB.INTERNAL ip-10-0-0-1.ec2.internal vault.corp.internal db%2einternal db。internal`,
  'invalid hosts': `256.0.0.1 1.2.3.4.5 127.0.0.1.1 4294967296 0x100000000 127.0.0.1.. localhost.. a..b .example.com
    [fe80::1%25eth0] [fe80::1%eth0] [::1%25lo] [::1]x [127.0.0.1] [::ffff:127.1] a_b<c> a%00b a%20b a%2fb a%5cb
    a%40b a%3ab ${'a'.repeat(64)}.example ${'a.'.repeat(127)}example`,
}

const urls: Record<string, readonly string[]> = {
  'user names': [
    'http://user@backend.example/',
    'http://user:password@backend.example/',
    'http://:password@backend.example/',
    'http://@backend.example/',
    'http://:@backend.example/',
    'http://backend.example@127.0.0.1/',
    'http://backend.example%40127.0.0.1/',
    'http://127.0.0.1@backend.example/',
    'http://127.0.0.1:80@backend.example/',
    'http://a@b@backend.example/',
  ],
  'other schemes, or none': [
    '',
    'http',
    'http:',
    'http://',
    'https://',
    'http:///',
    'http:///backend.example/',
    'http:backend.example',
    'http:/backend.example',
    'https:backend.example/x',
    'backend.example',
    '//backend.example/',
    '/callback',
    'ftp://backend.example/',
    'file:///etc/passwd',
    'gopher://backend.example/',
    'ws://backend.example/',
    'javascript:alert(1)',
    'data:text/plain,x',
    'unix:///run/x.sock',
    'http+unix://backend.example/',
    'jar:http://backend.example!/',
    'http://?x',
    'http://#x',
    'http://:80/',
  ],
  'characters that parsers drop or turn': [
    ' http://backend.example/',
    'http://backend.example/ ',
    'http://backend.example/a b',
    '\thttp://backend.example/',
    'http://backend.example/\n',
    'ht\ntp://127.0.0.1/',
    'http://127.0.\n0.1/',
    'http://127.0.0.1\t/',
    'http://loc\talhost/',
    'http://back\rend.example/',
    'http://backend.example/\u0000',
    'http://backend.example\u0000.other.example/',
    'http:\\\\127.0.0.1\\',
    'http://backend.example\\@127.0.0.1/',
    'http:/\\backend.example/',
    'http://backend.example\\.other.example/',
    'http://backend.example/\u007f',
    'http://127.0.0.1\\@backend.example/',
  ],
  'invalid ports': [
    'http://backend.example:0/',
    'http://backend.example:65536/',
    'http://backend.example:-1/',
    'http://backend.example:8a/',
    'http://backend.example:80:80/',
  ],
  'too long': [`http://backend.example/${'x'.repeat(2_048)}`, `http://backend.example/${'ä'.repeat(1_000)}`],
  'parts behind the host': [
    'http://127.0.0.1?x',
    'http://127.0.0.1#x',
    'http://127.0.0.1#@backend.example/',
    'http://127.0.0.1?@backend.example/',
    'https://localhost:8443/a/b?c#d',
    'HTTP://LOCALHOST/',
    'hTTps://169.254.169.254/latest/meta-data/',
  ],
}

/** Each URL with the reason for its rejection. */
export const refusedCallbackUrls: readonly [why: string, url: string][] = [
  ...Object.entries(hosts).flatMap(([why, list]) =>
    list
      .trim()
      .split(/\s+/)
      .map((host): [string, string] => [why, `http://${host}/callback`]),
  ),
  ...Object.entries(urls).flatMap(([why, list]) => list.map((url): [string, string] => [why, url])),
]
