import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AddressClass,
  toBareHost,
  canonicalizeAddress,
  classifyAddress,
  createCidrSet,
} from './addresses.ts'

const literals: Record<AddressClass, string> = {
  unspecified: `0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255 :: 0:0:0:0:0:0:0:0 0::0 0000:0000:0000:0000:0000:0000:0000:0000
    ::0.0.0.0 ::%lo ::2 ::ff ::ffff ::0.0.0.2 ::ffff:0.0.0.0 ::ffff:0:0 ::ffff:0:0.0.0.0 ::ffff:0:0:1 64:ff9b::
    64:ff9b::0.0.0.1 64:ff9b:1:: 64:ff9b:1::0.0.0.0 2002:: 2002::1 2002:0:1::5`,
  loopback: `127.0.0.1 127.0.0.0 127.1.2.3 127.255.255.255 ::1 0:0:0:0:0:0:0:1 ::0:1 0::1 ::0001 ::0.0.0.1 ::1%lo ::1%1
    0000:0000:0000:0000:0000:0000:0000:0001 ::ffff:127.0.0.1 ::FFFF:127.0.0.1 ::ffff:7f00:1 ::ffff:7f00:0001
    0:0:0:0:0:ffff:127.0.0.1 0:0:0:0:0:FFFF:7F00:1 0000:0000:0000:0000:0000:ffff:7f00:0001 ::ffff:127.255.255.255
    ::ffff:127.0.0.1%eth0 ::127.0.0.1 ::7f00:1 ::7F00:0001 0:0:0:0:0:0:127.0.0.1 ::ffff:0:127.0.0.1 ::ffff:0:7f00:1
    0:0:0:0:ffff:0:127.0.0.1 0:0:0:0:ffff:0:7f00:1 64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:FF9B::7F00:1
    64:ff9b:0:0:0:0:127.0.0.1 0064:ff9b:0000:0000:0000:0000:7f00:0001 64:ff9b:1::127.0.0.1 64:ff9b:1::7f00:1
    2002:7f00:1:: 2002:7f00:1::1 2002:7F00:0001:ffff:ffff:ffff:ffff:ffff 2002:7f00:1:0:0:0:8.8.8.8`,
  metadata: `169.254.169.254 ::ffff:169.254.169.254 ::FFFF:A9FE:A9FE ::ffff:a9fe:a9fe 0:0:0:0:0:ffff:a9fe:a9fe
    ::169.254.169.254 ::a9fe:a9fe ::ffff:0:169.254.169.254 ::ffff:0:a9fe:a9fe 64:ff9b::169.254.169.254 64:ff9b::a9fe:a9fe
    64:ff9b:1::169.254.169.254 64:ff9b:1::a9fe:a9fe 2002:a9fe:a9fe:: 2002:A9FE:A9FE::1 2002:a9fe:a9fe:0:0:0:0:0
    169.254.170.2 169.254.170.23 169.254.42.42 169.254.0.23 100.100.100.200 ::ffff:100.100.100.200 ::ffff:6464:64c8
    64:ff9b::6464:64c8 2002:6464:64c8:: 168.63.129.16 ::ffff:168.63.129.16 ::a83f:8110 2002:a83f:8110:: 192.0.0.192
    ::ffff:c000:c0 64:ff9b::192.0.0.192 fd00:ec2::254 FD00:EC2::254 fd00:0ec2:0:0:0:0:0:0254 fd00:ec2::23 fd00:ec2::123
    fd20:ce::254 fd20:00ce:0000::0254 fd00:c1::a9fe:a9fe fd00:c1::169.254.169.254 fd00:42::42 fd00:a9fe:a9fe::1
    fd00:100::100:200 fe80::a9fe:a9fe fe80::169.254.169.254 fe80::a9fe:a9fe%eth0`,
  'link-local': `169.254.0.0 169.254.1.1 169.254.169.253 169.254.169.255 169.254.255.255 ::ffff:169.254.1.1
    ::ffff:a9fe:101 ::169.254.1.1 ::ffff:0:169.254.1.1 64:ff9b::169.254.1.1 64:ff9b:1::a9fe:101 2002:a9fe:101:: fe80::
    fe80::1 FE80::1 fe80::1%eth0 fe80::1%25eth0 fe80::%1 fe80:0:0:0:0:0:0:1 feaf::1 febf:ffff::1`,
  private: `10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.1.1 192.168.255.255
    100.64.0.0 100.100.100.199 100.127.255.255 198.18.0.0 198.19.255.255 ::ffff:10.0.0.1 ::ffff:a00:1 ::10.0.0.1 ::a00:1
    ::ffff:0:10.0.0.1 ::ffff:0:192.168.1.1 64:ff9b::10.0.0.1 64:ff9b::c0a8:101 64:ff9b:1::172.16.0.1 2002:a00:1::
    2002:c0a8:101::7 2002:ac10:1::1 fc00:: fc00::1 fd00::1 FD12:3456:789A::1 fdff:ffff::1 fd00:ec1::254 fd20:ce::255
    fec0::1 feff::1`,
  multicast: `224.0.0.0 224.0.0.1 239.255.255.255 255.255.255.255 ::ffff:224.0.0.1 ::e000:1 64:ff9b::e000:1
    2002:efff:ffff:: ::ffff:255.255.255.255 ff00:: ff02::1 FF02::1 ff05::1:3 ff0e::1 ff02::1%eth0 ffff::1`,
  documentation: `192.0.2.1 198.51.100.7 203.0.113.255 ::ffff:192.0.2.1 ::203.0.113.1 64:ff9b::c000:201
    2002:c633:6401:: 2001:db8::1 2001:DB8:ffff::1 2001:0db8::192.0.2.1 3fff::1 3fff:fff::1`,
  reserved: `192.0.0.0 192.0.0.1 192.0.0.255 192.88.99.1 240.0.0.0 250.1.2.3 255.255.255.254 ::ffff:240.0.0.1
    ::f000:1 64:ff9b::f000:1 2002:c058:6301:: 2001:1::1 2001:2::1 2001:10::1 2001:1ff::1 100::1 100:0:0:1::1 1::1
    64:ff9a::7f00:1 64:ff9b:0:0:0:1:7f00:1 64:ff9b:2::7f00:1 0:0:0:1::1 0:0:0:0:1::1 ::1:127.0.0.1 ::fffe:127.0.0.1
    ::1:ffff:127.0.0.1 200::1 1fff::1 4000::1 5f00::1 8000::1 e000::1 fbff::1 fe00::1 fe7f::1`,
  tunnel: `2001::1 2001:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0000::a9fe:a9fe 2001:0:a9fe:a9fe::
    fe80::5efe:10.0.0.1 fe80::200:5efe:a9fe:a9fe 2001:db8::5efe:127.0.0.1 2a00:1450::200:5efe:7f00:1 fd00::5efe:a00:1
    2606:4700::0:5EFE:8.8.8.8 2002:808:808::5efe:a9fe:a9fe ::5efe:127.0.0.1 2a00::300:5efe:7f00:1 2a00::100:5efe:7f00:1
    64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:7f00:0:100:: 64:ff9b:1:1::127.0.0.1 64:ff9b:1:0:0:1:808:808
    64:ff9b:1:ffff:ffff:ffff:ffff:ffff`,
  public: `1.1.1.1 8.8.8.8 32.1.0.0 32.2.127.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
    168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255
    192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255
    203.0.114.0 223.255.255.255 ::ffff:8.8.8.8 ::8.8.8.8 ::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b:1::808:808
    2002:808:808::1 2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2A00:1450:4001:80B::200E
    2a00:1450::7f00:1 2a00:1450::169.254.169.254 3ffe:ffff::1 3fff:1000::1 2a00::400:5efe:7f00:1 2a00::5eff:7f00:1`,
}

// Hosts before the URL parser normalizes them.
const hosts: Partial<Record<AddressClass, string>> = {
  unspecified: '0 0x0 00 0.0 [::0.0.0.0] [0::0]',
  loopback: `2130706433 0x7f000001 0X7F000001 017700000001 127.1 127.0.1 0x7f.1 0177.0.0.1 0177.1 127.0.0.1.
    0x7f.0x0.0x0.0x1 127.000.000.001 0x7f.0.0.01 0000177.0.0.1 ①②⑦.0.0.1 127。0。0。1 %31%32%37.0.0.1 127.0x1
    [::1] [0:0::1] [::FFFF:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1] [2002:7f00:1::]`,
  metadata: `2852039166 0xa9fea9fe 0xA9.0xFE.0xA9.0xFE 0251.0376.0251.0376 025177524776 169.254.43518 169.16689662
    169.254.169.254. 169.254.0xa9.0376 ①⑥⑨.②⑤④.①⑥⑨.②⑤④ [::ffff:169.254.169.254] [::a9fe:a9fe] [64:ff9b::169.254.169.254]
    [2002:a9fe:a9fe::] [fd00:ec2::254] 1684301000 0x646464c8`,
  private: '167772161 0xa000001 012.1 10.1 0300.0250.1.1 3232235777 [fd00::1] [::ffff:a00:1]',
  public: '134744072 0x08080808 010.8.8.8 8.526344 [2606:4700::1111]',
}

const notAddresses = [
  '',
  ' ',
  'localhost',
  'example.com',
  '127.1',
  '1.2.3',
  '1.2.3.4.5',
  '256.0.0.1',
  '127.0.0.01',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '2130706433',
  '127.0.0.1.',
  ' 127.0.0.1',
  '127.0.0.1 ',
  '127.0.0.1\n',
  '127.0.0.1/32',
  '127.0.0.1:80',
  '127.0.0.1%lo',
  '[::1]',
  '::1]',
  ':::',
  ':1',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '12345::',
  '::g',
  '::1%',
  '::ffff:256.0.0.1',
  '::ffff:1.2.3',
  '::1.2.3.4:5',
  '１２７.0.0.1',
]

const wordsOf = (text: string): string[] => text.trim().split(/\s+/)
const rows = (table: Partial<Record<AddressClass, string>>): [string, string][] =>
  Object.entries(table).flatMap(([kind, text]) => wordsOf(text).map((word): [string, string] => [word, kind]))

/** Returns the IPv6 addresses that embed this IPv4 address. `tail` is the last group of the 6to4 address. */
function wrapped(bytes: readonly number[], tail = 0): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
  const prefixes = ['::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::']
  // ::0.0.0.0 and ::0.0.0.1 do not embed IPv4: they are the unspecified and the loopback address of IPv6.
  if (a + b + c > 0 || d > 1) prefixes.push('::')
  return [
    ...prefixes.flatMap((prefix) => [`${prefix}${bytes.join('.')}`, `${prefix}${high}:${low}`]),
    `0:0:0:0:0:ffff:${high.padStart(4, '0')}:${low.padStart(4, '0')}`,
    `2002:${high}:${low}::${tail.toString(16)}`,
  ].flatMap((text) => [text, text.toUpperCase(), `${text}%eth0`])
}

const ipv4 = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
  fc.tuple(
    fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 240, 255),
    fc.constantFrom(0, 16, 18, 51, 63, 64, 88, 100, 168, 254, 255),
    fc.constantFrom(0, 2, 99, 100, 113, 129, 169, 255),
    fc.constantFrom(0, 1, 16, 192, 200, 254, 255),
  ),
)

describe('the class of an address', () => {
  test('is told for every spelling', () => {
    const wrong = rows(literals).filter(([literal, kind]) => classifyAddress(literal) !== kind)
    expect(wrong.map(([literal, kind]) => `${literal}: ${classifyAddress(literal)}, not ${kind}`)).toEqual([])
  })

  test('is told for every host that a URL may spell', () => {
    const classOf = (host: string): string | null =>
      classifyAddress(toBareHost(new URL(`http://${host}/`).hostname))
    const wrong = rows(hosts).filter(([host, kind]) => classOf(host) !== kind)
    expect(wrong.map(([host, kind]) => `${host}: ${classOf(host)}, not ${kind}`)).toEqual([])
  })

  test('is none for what is no address', () => {
    for (const text of notAddresses) {
      expect([text, classifyAddress(text)]).toEqual([text, null])
      expect([text, canonicalizeAddress(text)]).toEqual([text, null])
      expect([text, createCidrSet(['0.0.0.0/0', '::/0'])(text)]).toEqual([text, false])
    }
  })

  test('and the plain form are the same for an IPv4 address wherever it stands', () => {
    fc.assert(
      fc.property(ipv4, fc.nat(255), (bytes, tail) => {
        const plain = bytes.join('.')
        const texts = wrapped(bytes, tail)
        expect(texts.filter((text) => classifyAddress(text) !== classifyAddress(plain))).toEqual([])
        expect(texts.filter((text) => canonicalizeAddress(text) !== plain)).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('a set of networks', () => {
  test.each([
    [
      '10.0.0.0/8',
      '10.0.0.0 10.255.255.255 ::ffff:10.1.2.3 ::10.1.2.3 64:ff9b::a01:203 2002:a01:203::',
      '9.255.255.255 11.0.0.0 ::ffff:11.0.0.0 a00::',
    ],
    ['10.1.2.3/8', '10.0.0.0', '11.1.2.3'],
    ['192.0.2.1/32', '192.0.2.1 ::ffff:c000:201', '192.0.2.0 192.0.2.2'],
    ['192.0.2.0/31', '192.0.2.0 192.0.2.1', '192.0.2.2'],
    ['0.0.0.0/0', '0.0.0.0 255.255.255.255 ::ffff:1.2.3.4', '2001:db8::1 fd00::1 ::1'],
    ['::ffff:10.0.0.0/104', '10.1.2.3 ::ffff:10.1.2.3 64:ff9b::a01:203', '11.0.0.1 ::1'],
    ['2001:db8::/32', '2001:db8::1 2001:DB8:ffff::%eth0', '2001:db9:: 32.1.13.184'],
    ['fe80::1/128', 'fe80::1 fe80::1%eth0', 'fe80::2'],
    ['::/0', ':: ffff:: ::1 ::ffff:10.0.0.1', '10.0.0.1 0.0.0.0'],
    ['64:ff9b::/96', '64:ff9b::10.0.0.1', '10.0.0.1 64:ff9b:1::10.0.0.1'],
    ['2000::/3', '2000:: 3fff:ffff:: 2002:a00:1::', '10.0.0.1 4000:: 32.0.0.1'],
  ])('%s holds %s, not %s', (cidr, inside, outside) => {
    for (const address of wordsOf(inside))
      expect([address, createCidrSet([cidr])(address)]).toEqual([address, true])
    for (const address of wordsOf(outside))
      expect([address, createCidrSet([cidr])(address)]).toEqual([address, false])
  })

  test('holds what one of them holds, and nothing without any', () => {
    const isInside = createCidrSet(['10.0.0.0/8', 'fd00::/8'])
    expect(['10.1.1.1', 'fd00::1', '11.1.1.1', 'fc00::1'].map(isInside)).toEqual([true, true, false, false])
    expect(createCidrSet([])('10.0.0.1')).toBe(false)
  })

  test.each([
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8.5',
    'x/8',
    '::/129',
    '10/8',
    '10.0.0.0/ 8',
  ])('refuses %j', (cidr) => expect(() => createCidrSet([cidr])).toThrow('is not a network'))
})
