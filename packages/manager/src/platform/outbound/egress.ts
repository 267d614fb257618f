// Decides which addresses outbound calls may reach. Each kind of call has a policy (egress-policies.ts). Some address
// classes are refused in every configuration, and so are the services that this process depends on.
import { networkInterfaces } from 'node:os'
import { type AddressClass, bareHost, canonicalAddress, classifyAddress, createCidrSet } from './addresses.ts'
import type { Lookup } from './names.ts'
import type { OwnService } from './own-services.ts'

/** The networks that one kind of outbound call may reach. */
export type EgressPolicy = {
  /** Name of the destinations for messages. */
  destinations: string
  /** Address classes to refuse, in addition to those that are always refused. */
  refusedClasses: readonly AddressClass[]
  /** Networks that are allowed although their class is refused. */
  openedCidrs: readonly string[]
  /** If not empty, all other networks are refused. */
  onlyCidrs: readonly string[]
  /** Networks to refuse; takes precedence over `openedCidrs` and `onlyCidrs`. */
  deniedCidrs: readonly string[]
}

/** Checks of a policy that depend only on the address. */
export type AddressRules = {
  /** Returns the reason for refusing the address, as a text that follows "it is", or null if it is allowed. */
  problemOfAddress(address: string): string | null
  /** Whether a setting can open the network of a refused address. Some classes are always refused. */
  canBeOpened(address: string): boolean
  /** Whether the operator has opened a network, so that internal names can be reachable. */
  hasOpenedNetworks: boolean
}

/** The checks of a policy, including those against the services of the installation. */
export type Egress = Pick<AddressRules, 'problemOfAddress'> & {
  /** Like `problemOfAddress`, but also refuses the address and port of a service of the installation. */
  problemOf(address: string, port: number): Promise<string | null>
}

/** A policy and the services that are refused regardless of it. */
export type EgressOptions = {
  policy: EgressPolicy
  /** Iterated for each connection, because the services can change. */
  ownServices: Iterable<OwnService>
  lookup: Lookup
}

const descriptions: Record<AddressClass, string> = {
  unspecified: 'an unspecified address',
  loopback: 'a loopback address',
  'link-local': 'a link-local address',
  metadata: 'a metadata service',
  private: 'a private address',
  multicast: 'a multicast address',
  documentation: 'a documentation address',
  reserved: 'a reserved address',
  tunnel: 'a tunnel endpoint',
  public: 'a public address',
}

/** Refused in every configuration. 0.0.0.0 and :: reach the local machine, and no backend has such an address. */
const alwaysRefused: ReadonlySet<AddressClass> = new Set([
  'unspecified',
  'link-local',
  'metadata',
  'multicast',
  'tunnel',
])

/** Checks addresses, not names: callers must check every address that a name resolves to. */
export function createAddressRules(policy: EgressPolicy): AddressRules {
  const { onlyCidrs, refusedClasses } = policy
  const [isOpened, isOnly] = [createCidrSet(policy.openedCidrs), createCidrSet(onlyCidrs)]
  const isDenied = createCidrSet(policy.deniedCidrs)
  return {
    hasOpenedNetworks: policy.openedCidrs.length > 0,
    canBeOpened: (address) => {
      const kind = classifyAddress(address)
      return kind !== null && !alwaysRefused.has(kind) && !isDenied(address)
    },
    problemOfAddress: (address) => {
      const [kind, canonical] = [classifyAddress(address), canonicalAddress(address)]
      if (kind === null || canonical === null) return 'not an address'
      if (alwaysRefused.has(kind)) return descriptions[kind]
      if (isDenied(address)) return 'in a denied network'
      // Only the embedded IPv4 address counts: an allowed IPv6 network does not allow its embedded IPv4 addresses.
      if (onlyCidrs.length > 0 && !isOnly(canonical)) return 'outside the allowed networks'
      return refusedClasses.includes(kind) && !isOpened(canonical) ? descriptions[kind] : null
    },
  }
}

/** Combines the rules of a policy with the refusal of the installation's own services. */
export function createEgress({ policy, ownServices, lookup }: EgressOptions): Egress {
  const rules = createAddressRules(policy)
  const addressesOf = async (host: string): Promise<readonly { address: string }[]> => {
    const name = bareHost(host)
    return classifyAddress(name) === null ? lookup(name) : [{ address: name }]
  }
  /** Addresses of optional services, so that a failing name server does not lift the refusal. */
  const lastKnownAddresses = new Map<string, readonly { address: string }[]>()
  const isOwnService = async (address: string, { host, isOptional }: OwnService): Promise<boolean> => {
    const found = await addressesOf(host).catch(() => null)
    // A required service whose name does not resolve could have any address.
    if (found === null && isOptional !== true) return true
    if (found !== null && isOptional === true) lastKnownAddresses.set(host, found)
    const own = found ?? lastKnownAddresses.get(host) ?? []
    return own.some((service) => isSameHost(service.address, address))
  }
  return {
    problemOfAddress: (address) => rules.problemOfAddress(address),
    problemOf: async (address, port) => {
      const problem = rules.problemOfAddress(address)
      if (problem !== null) return problem
      const services = [...ownServices].filter((own) => own.port === port)
      const verdicts = await Promise.all(services.map((service) => isOwnService(address, service)))
      return verdicts.includes(true) ? 'an internal service of the Manager' : null
    },
  }
}

const isSameHost = (a: string, b: string): boolean =>
  canonicalAddress(a) === canonicalAddress(b) || (isThisMachine(a) && isThisMachine(b))

/** Treats all addresses of this machine as one, because most services listen on all of them. */
function isThisMachine(address: string): boolean {
  const kind = classifyAddress(address)
  if (kind === 'loopback' || kind === 'unspecified') return true
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return interfaces.some((own) => canonicalAddress(own.address) === canonicalAddress(address))
}
