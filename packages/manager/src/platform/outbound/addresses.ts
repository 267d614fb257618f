// What kind of network an address leads to. Pure. IPv4 hides in IPv6 in many spellings; each is taken out of its
// wrapping first, so that a rule about an IPv4 network holds for all of them.
import { parseAddress } from '../http/ip-address.ts'

export type AddressClass =
  | 'unspecified'
  | 'loopback'
  | 'link-local'
  | 'metadata'
  | 'private'
  | 'multicast'
  | 'documentation'
  | 'reserved'
  | 'tunnel'
  | 'public'

/** The addresses with this number of digits that begin with the prefix, once their last bits are cut off. */
type Network = { digits: number; cut: bigint; prefix: bigint }

const mapped = /^0{20}ffff(.{8})$/

/** Where translators put an IPv4 address, in the 32 digits of an IPv6 address. */
const wrappings = [
  mapped, // ::ffff:a.b.c.d
  /^0{24}(?!0{7}[01]$)(.{8})$/, // compatible, ::a.b.c.d; :: and ::1 are separate addresses
  /^0{16}ffff0000(.{8})$/, // SIIT, ::ffff:0:a.b.c.d
  /^0064ff9b0{16}(.{8})$/, // NAT64, 64:ff9b::a.b.c.d
  /^0064ff9b00010{12}(.{8})$/, // NAT64 with a local prefix, 64:ff9b:1::a.b.c.d
  /^2002(.{8})/, // 6to4, 2002:aabb:ccdd::
]

/** Addresses whose real end is elsewhere and resolved by others. */
const tunnels = [
  /^20010{4}/, // Teredo
  /^.{16}0[0-3]005efe/, // ISATAP
  /^0064ff9b0001(?!0{12})/, // NAT64 with a local prefix, where the IPv4 address may be in four places
]

/** The first class with a fitting network counts. */
const classes: readonly [AddressClass, readonly Network[]][] = [
  ['unspecified', networks(['0.0.0.0/8', '::/128'])],
  ['loopback', networks(['127.0.0.0/8', '::1/128'])],
  [
    'metadata',
    networks([
      '169.254.169.254/32', // Amazon, Google, Azure, Oracle, DigitalOcean, OpenStack and most others
      '169.254.170.2/32', // Amazon ECS
      '169.254.170.23/32', // Amazon EKS
      '169.254.42.42/32', // Scaleway
      '169.254.0.23/32', // Tencent
      '100.100.100.200/32', // Alibaba
      '168.63.129.16/32', // Azure, WireServer
      '192.0.0.192/32', // Oracle
      'fd00:ec2::/32', // Amazon: metadata, EKS, name servers, time
      'fd20:ce::254/128', // Google
      'fd00:c1::a9fe:a9fe/128', // Oracle
      'fd00:42::42/128', // Scaleway
      'fd00:a9fe:a9fe::1/128', // Akamai
      'fd00:100::100:200/128', // Alibaba
      'fe80::a9fe:a9fe/128', // OpenStack, Akamai
    ]),
  ],
  ['link-local', networks(['169.254.0.0/16', 'fe80::/10'])],
  // Beside the well-known private networks: shared address space, benchmarks, and the former site-local addresses.
  [
    'private',
    networks([
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '100.64.0.0/10',
      '198.18.0.0/15',
      'fc00::/7',
      'fec0::/10',
    ]),
  ],
  ['multicast', networks(['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'])],
  [
    'documentation',
    networks(['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']),
  ],
  // Of protocols, of relays, and not given out.
  ['reserved', networks(['192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4', '2001::/23'])],
  ['public', networks(['0.0.0.0/0', '2000::/3'])],
]

/** The class of an address, of the IPv4 address inside it if there is one; null for what is no address. */
export function classifyAddress(address: string): AddressClass | null {
  const digits = digitsOf(address)
  if (digits === null) return null
  if (digits.length === 32 && tunnels.some((form) => form.test(digits))) return 'tunnel'
  const plain = unwrap(digits)
  return classes.find(([, networks]) => isInside(plain, networks))?.[0] ?? 'reserved'
}

/** The one spelling of an address, without zone; the IPv4 address if one is inside. Null for what is no address. */
export function plainAddress(address: string): string | null {
  const digits = digitsOf(address)
  return digits === null ? null : textOf(unwrap(digits))
}

/** Whether an address, or the IPv4 address inside it, lies in one of the networks. */
export function createCidrSet(cidrs: readonly string[]): (address: string) => boolean {
  const set = networks(cidrs)
  return (address) => {
    const digits = digitsOf(address)
    return digits !== null && (isInside(digits, set) || isInside(unwrap(digits), set))
  }
}

/** A host as URLs write it, without the brackets of IPv6 and the dot of the root. */
export const bareHost = (host: string): string => host.replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1')

function unwrap(digits: string): string {
  return wrappings.map((form) => form.exec(digits)?.[1]).find((inner) => inner !== undefined) ?? digits
}

/** 8 hexadecimal digits of an IPv4 address, 32 of an IPv6 address, without its zone. */
function digitsOf(address: string): string | null {
  const parsed = parseAddress(address)
  return parsed === null ? null : Buffer.from(parsed.toByteArray()).toString('hex')
}

function textOf(digits: string): string {
  if (digits.length === 32) return digits.replace(/.{4}(?=.)/g, '$&:')
  return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)).join('.')
}

/** Networks in CIDR notation; one of IPv4 may be written mapped into IPv6. */
function networks(cidrs: readonly string[]): Network[] {
  return cidrs.map((cidr) => {
    const [address = '', size = ''] = cidr.split('/')
    const digits = digitsOf(address)
    const bits = /^\d{1,3}$/.test(size) ? Number(size) : Number.NaN
    if (digits === null || !(bits <= digits.length * 4))
      throw new Error(`${cidr} is no network such as 10.0.0.0/8`)
    const inner = bits >= 96 ? mapped.exec(digits)?.[1] : undefined
    return inner === undefined ? network(digits, bits) : network(inner, bits - 96)
  })
}

function network(start: string, bits: number): Network {
  const cut = BigInt(start.length * 4 - bits)
  return { digits: start.length, cut, prefix: BigInt(`0x${start}`) >> cut }
}

function isInside(digits: string, networks: readonly Network[]): boolean {
  const value = BigInt(`0x${digits}`)
  return networks.some(
    (network) => network.digits === digits.length && value >> network.cut === network.prefix,
  )
}
