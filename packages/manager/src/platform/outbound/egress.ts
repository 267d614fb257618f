// Decides which addresses outbound calls may reach. Each kind of call has a policy (egress-policies.ts). Some address
// classes are refused in every configuration, and so are the services that this process depends on.
import { networkInterfaces } from 'node:os'
import {
  type AddressClass,
  toBareHost,
  canonicalizeAddress,
  classifyAddress,
  createCidrSet,
} from './addresses.ts'
import type { Lookup } from './names.ts'
import type { OwnService } from './own-services.ts'

/** The networks that one kind of outbound call may reach. */
export type EgressPolicy = {
  /** Name of the destinations in error messages. */
  destinations: string
  /** Address classes to refuse in addition to those that are always refused. */
  refusedClasses: readonly AddressClass[]
  /** Networks that are allowed even though their class is refused. */
  openedCidrs: readonly string[]
  /** If not empty, all other networks are refused. */
  onlyCidrs: readonly string[]
  /** Networks to refuse; takes precedence over `openedCidrs` and `onlyCidrs`. */
  deniedCidrs: readonly string[]
}

/** Checks of a policy that depend only on the address. */
export type AddressRules = {
  /**
   * Returns the reason for refusing the address, as a phrase that follows "it is", or null if it is allowed.
   */
  findAddressProblem(address: string): string | null
  /** Whether a setting can open the network of a refused address. Some classes are always refused. */
  canBeOpened(address: string): boolean
  /** Whether the operator has allowed an internal network, so that internal host names may be reachable. */
  hasOpenedNetworks: boolean
}

/** The checks of a policy, including those against the services of the installation. */
export type Egress = Pick<AddressRules, 'findAddressProblem'> & {
  /** Like `findAddressProblem`, but also refuses the address and port of a service of the installation. */
  findProblem(address: string, port: number): Promise<string | null>
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
const alwaysRefusedClasses: ReadonlySet<AddressClass> = new Set([
  'unspecified',
  'link-local',
  'metadata',
  'multicast',
  'tunnel',
])

/** Checks addresses, not names: callers must check every address that a name resolves to. */
export function createAddressRules(policy: EgressPolicy): AddressRules {
  const { onlyCidrs, refusedClasses } = policy
  const [isOpened, isInPermittedNetworks] = [createCidrSet(policy.openedCidrs), createCidrSet(onlyCidrs)]
  const isDenied = createCidrSet(policy.deniedCidrs)
  return {
    hasOpenedNetworks: policy.openedCidrs.length > 0,
    canBeOpened: (address) => {
      const addressClass = classifyAddress(address)
      return addressClass !== null && !alwaysRefusedClasses.has(addressClass) && !isDenied(address)
    },
    findAddressProblem: (address) => {
      const [addressClass, canonical] = [classifyAddress(address), canonicalizeAddress(address)]
      if (addressClass === null || canonical === null) return 'not an address'
      if (alwaysRefusedClasses.has(addressClass)) return descriptions[addressClass]
      if (isDenied(address)) return 'in a denied network'
      // Only the embedded IPv4 address counts: an allowed IPv6 network does not allow its embedded IPv4 addresses.
      if (onlyCidrs.length > 0 && !isInPermittedNetworks(canonical)) return 'outside the allowed networks'
      return refusedClasses.includes(addressClass) && !isOpened(canonical) ? descriptions[addressClass] : null
    },
  }
}

/** Combines the rules of a policy with the refusal of the installation's own services. */
export function createEgress({ policy, ownServices, lookup }: EgressOptions): Egress {
  const rules = createAddressRules(policy)
  const resolveHost = async (host: string): Promise<readonly { address: string }[]> => {
    const name = toBareHost(host)
    return classifyAddress(name) === null ? lookup(name) : [{ address: name }]
  }
  /** While the name server fails, optional services are still refused at these addresses. */
  const lastKnownAddresses = new Map<string, readonly { address: string }[]>()
  const isOwnService = async (address: string, { host, isOptional }: OwnService): Promise<boolean> => {
    const resolvedAddresses = await resolveHost(host).catch(() => null)
    // A required service whose name does not resolve could have any address.
    if (resolvedAddresses === null && isOptional !== true) return true
    if (resolvedAddresses !== null && isOptional === true) lastKnownAddresses.set(host, resolvedAddresses)
    const serviceAddresses = resolvedAddresses ?? lastKnownAddresses.get(host) ?? []
    return serviceAddresses.some((service) => isSameHost(service.address, address))
  }
  return {
    findAddressProblem: (address) => rules.findAddressProblem(address),
    findProblem: async (address, port) => {
      const problem = rules.findAddressProblem(address)
      if (problem !== null) return problem
      const services = [...ownServices].filter((service) => service.port === port)
      const verdicts = await Promise.all(services.map((service) => isOwnService(address, service)))
      return verdicts.includes(true) ? 'an internal service of the Manager' : null
    },
  }
}

const isSameHost = (a: string, b: string): boolean =>
  canonicalizeAddress(a) === canonicalizeAddress(b) || (isThisMachine(a) && isThisMachine(b))

/**
 * Returns whether an address belongs to this machine. All such addresses are treated as equal, because most services
 * listen on all of them.
 */
function isThisMachine(address: string): boolean {
  const addressClass = classifyAddress(address)
  if (addressClass === 'loopback' || addressClass === 'unspecified') return true
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return interfaces.some(
    (networkInterface) => canonicalizeAddress(networkInterface.address) === canonicalizeAddress(address),
  )
}
