// Classifies addresses by the kind of network they lead to. IPv6 can embed an IPv4 address in many forms. The embedded
// address is extracted first, so that a rule about an IPv4 network applies to every form.
import { parseAddress } from '../http/ip-address.ts'

/** The kind of network that an address belongs to. */
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

/** The addresses with `digits` hexadecimal digits that equal `prefix` after a right shift by `shiftBits` bits. */
type Network = { digits: number; shiftBits: bigint; prefix: bigint }

const mappedPattern = /^0{20}ffff(.{8})$/

/** Positions of an embedded IPv4 address in the 32 digits of an IPv6 address. */
const embeddings = [
  mappedPattern, // ::ffff:a.b.c.d
  /^0{24}(?!0{7}[01]$)(.{8})$/, // compatible, ::a.b.c.d; :: and ::1 are separate addresses
  /^0{16}ffff0000(.{8})$/, // SIIT, ::ffff:0:a.b.c.d
  /^0064ff9b0{16}(.{8})$/, // NAT64, 64:ff9b::a.b.c.d
  /^0064ff9b00010{12}(.{8})$/, // NAT64 with a local prefix, 64:ff9b:1::a.b.c.d
  /^2002(.{8})/, // 6to4, 2002:aabb:ccdd::
]

/** Tunnel addresses: the tunnel forwards the packets to another address. */
const tunnels = [
  /^20010{4}/, // Teredo
  /^.{16}0[0-3]005efe/, // ISATAP
  /^0064ff9b0001(?!0{12})/, // NAT64 with a local prefix, where the IPv4 address can be at four positions
]

/** The first class with a network that contains the address applies. */
const classes: readonly [AddressClass, readonly Network[]][] = [
  ['unspecified', parseNetworks(['0.0.0.0/8', '::/128'])],
  ['loopback', parseNetworks(['127.0.0.0/8', '::1/128'])],
  [
    'metadata',
    parseNetworks([
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
  ['link-local', parseNetworks(['169.254.0.0/16', 'fe80::/10'])],
  // Includes shared address space, benchmarking networks and the deprecated site-local addresses.
  [
    'private',
    parseNetworks([
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '100.64.0.0/10',
      '198.18.0.0/15',
      'fc00::/7',
      'fec0::/10',
    ]),
  ],
  ['multicast', parseNetworks(['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'])],
  [
    'documentation',
    parseNetworks(['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']),
  ],
  // Protocol assignments, relays and unallocated networks.
  ['reserved', parseNetworks(['192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4', '2001::/23'])],
  ['public', parseNetworks(['0.0.0.0/0', '2000::/3'])],
]

/** Returns the class of an address, or of the IPv4 address embedded in it; null if the text is not an address. */
export function classifyAddress(address: string): AddressClass | null {
  const digits = toDigits(address)
  if (digits === null) return null
  if (digits.length === 32 && tunnels.some((pattern) => pattern.test(digits))) return 'tunnel'
  const plainDigits = extractEmbedded(digits)
  return classes.find(([, networks]) => isInside(plainDigits, networks))?.[0] ?? 'reserved'
}

/** Returns the canonical form without zone, or the embedded IPv4 address; null if the text is not an address. */
export function canonicalizeAddress(address: string): string | null {
  const digits = toDigits(address)
  return digits === null ? null : formatAddress(extractEmbedded(digits))
}

/** Returns a function that tests whether an address, or the IPv4 address embedded in it, is in one of the networks. */
export function createCidrSet(cidrs: readonly string[]): (address: string) => boolean {
  const parsedNetworks = parseNetworks(cidrs)
  return (address) => {
    const digits = toDigits(address)
    return (
      digits !== null &&
      (isInside(digits, parsedNetworks) || isInside(extractEmbedded(digits), parsedNetworks))
    )
  }
}

/** Returns the host of a URL without IPv6 brackets and without the trailing dot of the root domain. */
export const toBareHost = (host: string): string => host.replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1')

function extractEmbedded(digits: string): string {
  return (
    embeddings
      .map((pattern) => pattern.exec(digits)?.[1])
      .find((embeddedDigits) => embeddedDigits !== undefined) ?? digits
  )
}

/** Returns 8 hexadecimal digits for an IPv4 address and 32 for an IPv6 address, without its zone. */
function toDigits(address: string): string | null {
  const parsedAddress = parseAddress(address)
  return parsedAddress === null ? null : Buffer.from(parsedAddress.toByteArray()).toString('hex')
}

function formatAddress(digits: string): string {
  if (digits.length === 32) return digits.replace(/.{4}(?=.)/g, '$&:')
  return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)).join('.')
}

/** Parses networks in CIDR notation. An IPv4 network can be written as an IPv4-mapped IPv6 network. */
function parseNetworks(cidrs: readonly string[]): Network[] {
  return cidrs.map((cidr) => {
    const [address = '', size = ''] = cidr.split('/')
    const digits = toDigits(address)
    const bits = /^\d{1,3}$/.test(size) ? Number(size) : Number.NaN
    if (digits === null || !(bits <= digits.length * 4))
      throw new Error(`${cidr} is not a network in CIDR notation, such as 10.0.0.0/8`)
    const embeddedDigits = bits >= 96 ? mappedPattern.exec(digits)?.[1] : undefined
    return embeddedDigits === undefined
      ? createNetwork(digits, bits)
      : createNetwork(embeddedDigits, bits - 96)
  })
}

function createNetwork(start: string, bits: number): Network {
  const shiftBits = BigInt(start.length * 4 - bits)
  return { digits: start.length, shiftBits, prefix: BigInt(`0x${start}`) >> shiftBits }
}

function isInside(digits: string, networks: readonly Network[]): boolean {
  const value = BigInt(`0x${digits}`)
  return networks.some(
    (network) => network.digits === digits.length && value >> network.shiftBits === network.prefix,
  )
}
