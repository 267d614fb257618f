// A private network for one run: a bridge, and one network namespace per node, whose packets can be dropped.
// Creating the network requires root.
import { execFileSync } from 'node:child_process'

export type PrivateNet = {
  /** The network in CIDR notation. */
  cidr: string
  /** The address of a node. Nodes are numbered from 1. */
  hostOf(node: number): string
  /** Command prefix that runs a command in the namespace of the node. */
  inside(node: number): string[]
  /** Silently drops the packets of a node: all packets, or only those from and to the other nodes. */
  cut(node: number, scope: 'all' | 'peers'): void
  heal(node: number): void
  remove(): void
}

const run = (program: string, args: string[], input?: string): void =>
  void execFileSync(program, args, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'ignore', 'pipe'],
    input,
  })

const ip = (line: string): void => run('ip', line.split(' '))

function attempt(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

// A dropped packet causes no error. Without short keepalives, a running base backup would hang for two hours.
const tcpSettings = {
  tcp_keepalive_time: 4,
  tcp_keepalive_intvl: 2,
  tcp_keepalive_probes: 3,
  tcp_retries2: 6,
  tcp_syn_retries: 3,
}

/**
 * Reserves a network that no other run uses. The name of the bridge contains the number, so it is unique on the
 * machine.
 */
function reserveNetwork(): number {
  for (let tries = 0; tries < 100; tries++) {
    const number = 1 + Math.floor(Math.random() * 254)
    if (attempt(() => ip(`link add mfbr${number} type bridge`))) return number
  }
  throw new Error('no private network is free: remove unused bridges named mfbr*')
}

/** Creates a network with this many nodes. */
export function createPrivateNet(nodes: number): PrivateNet {
  const number = reserveNetwork()
  const [bridge, prefix] = [`mfbr${number}`, `10.203.${number}`]
  const numbers = Array.from({ length: nodes }, (_, index) => index + 1)
  const spaceOf = (node: number): string => `mfns${number}-${node}`
  const linkOf = (node: number): string => `mfve${number}-${node}`
  const hostOf = (node: number): string => `${prefix}.${10 + node}`
  const inside = (node: number): string[] => ['ip', 'netns', 'exec', spaceOf(node)]
  const nft = (node: number, text: string): void =>
    run('ip', [...inside(node).slice(1), 'nft', '-f', '-'], text)
  const remove = (): void => {
    for (const node of numbers) {
      attempt(() => ip(`netns del ${spaceOf(node)}`))
      // A half-closed connection may keep the namespace and its device alive for a while.
      attempt(() => ip(`link del ${linkOf(node)}`))
    }
    attempt(() => ip(`link del ${bridge}`))
  }
  try {
    ip(`addr add ${prefix}.1/24 dev ${bridge}`)
    ip(`link set ${bridge} up`)
    for (const node of numbers) {
      ip(`netns add ${spaceOf(node)}`)
      ip(`link add ${linkOf(node)} type veth peer name eth0 netns ${spaceOf(node)}`)
      ip(`link set ${linkOf(node)} master ${bridge} up`)
      ip(`-n ${spaceOf(node)} link set lo up`)
      ip(`-n ${spaceOf(node)} addr add ${hostOf(node)}/24 dev eth0`)
      ip(`-n ${spaceOf(node)} link set eth0 up`)
      const settings = Object.entries(tcpSettings).map(
        ([name, value]) => `echo ${value} > /proc/sys/net/ipv4/${name}`,
      )
      run('ip', [...inside(node).slice(1), 'sh', '-c', settings.join(' && ')])
    }
  } catch (error) {
    remove()
    throw error
  }
  return {
    cidr: `${prefix}.0/24`,
    hostOf,
    inside,
    cut: (node, scope) => nft(node, cutRules(scope, numbers.map(hostOf))),
    heal: (node) => void attempt(() => nft(node, 'delete table inet cut\n')),
    remove,
  }
}

function cutRules(scope: 'all' | 'peers', hosts: readonly string[]): string {
  const peers = scope === 'all' ? '' : `{ ${hosts.join(', ')} }`
  const [from, to] = scope === 'all' ? ['', ''] : [`ip saddr ${peers}`, `ip daddr ${peers}`]
  return `table inet cut {
  chain in { type filter hook input priority 0; iifname != "lo" ${from} drop; }
  chain out { type filter hook output priority 0; oifname != "lo" ${to} drop; }
}
`
}
