// Where outbound calls may go. What each purpose of calls refuses is its policy (egress-policies.ts); what no purpose
// calls is refused here, in any configuration, and so are the services this process itself is built on.
import { networkInterfaces } from 'node:os'
import { type AddressClass, bareHost, classifyAddress, createCidrSet, plainAddress } from './addresses.ts'
import type { Lookup } from './names.ts'
import type { OwnService } from './own-services.ts'

export type EgressPolicy = {
  /** What is called, as messages name it. */
  destinations: string
  /** Not called, beside the classes that never are. */
  refusedClasses: readonly AddressClass[]
  /** Called in spite of these classes. */
  openedCidrs: readonly string[]
  /** When not empty, nothing else is called. */
  onlyCidrs: readonly string[]
  /** Wins over what is opened, and over the only ones. */
  deniedCidrs: readonly string[]
}

/** What a policy says of addresses, wherever their names come from. */
export type AddressRules = {
  /** Why the address must not be called, as a text that follows "it is", or null when it may be. */
  problemOfAddress(address: string): string | null
  /** Whether a setting can open the network of a refused address; some are never called. */
  isOpenable(address: string): boolean
  /** Whether the operator has opened a network, so that names of inner networks may lead somewhere. */
  hasOpened: boolean
}

export type Egress = Pick<AddressRules, 'problemOfAddress'> & {
  /** The same by the address, and by what listens at the port. */
  problemOf(address: string, port: number): Promise<string | null>
}

export type EgressOptions = {
  policy: EgressPolicy
  /** They are looked at for each connection. */
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
  documentation: 'an address for documentation',
  reserved: 'a reserved address',
  tunnel: 'the end of a tunnel',
  public: 'a public address',
}

/** Never called, in any configuration. 0.0.0.0 and :: are this machine in a spelling that no backend has. */
const neverCalled: ReadonlySet<AddressClass> = new Set([
  'unspecified',
  'link-local',
  'metadata',
  'multicast',
  'tunnel',
])

/** Judges addresses, not names: a name is judged by every address it resolves to. */
export function createAddressRules(policy: EgressPolicy): AddressRules {
  const { onlyCidrs, refusedClasses } = policy
  const [isOpened, isOnly] = [createCidrSet(policy.openedCidrs), createCidrSet(onlyCidrs)]
  const isDenied = createCidrSet(policy.deniedCidrs)
  return {
    hasOpened: policy.openedCidrs.length > 0,
    isOpenable: (address) => {
      const kind = classifyAddress(address)
      return kind !== null && !neverCalled.has(kind) && !isDenied(address)
    },
    problemOfAddress: (address) => {
      const [kind, plain] = [classifyAddress(address), plainAddress(address)]
      if (kind === null || plain === null) return 'no address'
      if (neverCalled.has(kind)) return descriptions[kind]
      if (isDenied(address)) return 'in a denied network'
      // By the IPv4 address inside alone: a network of IPv6 that surrounds a wrapping does not allow what is wrapped.
      if (onlyCidrs.length > 0 && !isOnly(plain)) return 'outside the allowed networks'
      return refusedClasses.includes(kind) && !isOpened(plain) ? descriptions[kind] : null
    },
  }
}

/** The rules of a policy, and that no service of our own is called. */
export function createEgress({ policy, ownServices, lookup }: EgressOptions): Egress {
  const rules = createAddressRules(policy)
  const addressesOf = async (host: string): Promise<readonly { address: string }[]> => {
    const name = bareHost(host)
    return classifyAddress(name) === null ? lookup(name) : [{ address: name }]
  }
  /** Of optional services: a name server that fails for a moment does not open what was closed. */
  const lastKnown = new Map<string, readonly { address: string }[]>()
  const isOwn = async (address: string, { host, isOptional }: OwnService): Promise<boolean> => {
    const found = await addressesOf(host).catch(() => null)
    // A service that we cannot run without and whose name does not resolve could be anywhere.
    if (found === null && isOptional !== true) return true
    if (found !== null && isOptional === true) lastKnown.set(host, found)
    const own = found ?? lastKnown.get(host) ?? []
    return own.some((service) => isSameHost(service.address, address))
  }
  return {
    problemOfAddress: (address) => rules.problemOfAddress(address),
    problemOf: async (address, port) => {
      const problem = rules.problemOfAddress(address)
      if (problem !== null) return problem
      const services = [...ownServices].filter((own) => own.port === port)
      const verdicts = await Promise.all(services.map((service) => isOwn(address, service)))
      return verdicts.includes(true) ? 'a service of our own' : null
    },
  }
}

const isSameHost = (a: string, b: string): boolean =>
  plainAddress(a) === plainAddress(b) || (isThisMachine(a) && isThisMachine(b))

/** What listens on one address of this machine mostly listens on all of them. */
function isThisMachine(address: string): boolean {
  const kind = classifyAddress(address)
  if (kind === 'loopback' || kind === 'unspecified') return true
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return interfaces.some((own) => plainAddress(own.address) === plainAddress(address))
}
