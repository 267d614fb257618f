// Callbacks to public addresses cannot be tried on a machine that has none. In a network namespace this machine has
// some, without a way out; nothing of it is seen outside.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ensureIp } from '@manager/harness/engines/install.ts'
import type { Seen } from './inside-namespace.ts'

const program = fileURLToPath(new URL('inside-namespace.ts', import.meta.url))
// Others than root have these programs too, often not in their path.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
/** As root; where users may have namespaces of their own; as on hosted runners. */
const ways = [
  ['unshare', '--net'],
  ['unshare', '--map-root-user', '--net'],
  ['sudo', '-n', 'unshare', '--net'],
]

/** How a program is started in a namespace here; throws saying why it cannot be, and what would help. */
function findWay(): string[] {
  ensureIp()
  const problems: string[] = []
  for (const way of ways)
    try {
      const [command = '', ...args] = way
      execFileSync(command, [...args, 'ip', 'link', 'set', 'lo', 'up'], { env, stdio: 'pipe' })
      return way
    } catch (error) {
      problems.push(`${way.join(' ')}: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`)
    }
  throw new Error(
    `no network namespace can be made (${problems.join('; ')}); install util-linux and iproute2, and let a container ` +
      'have CAP_SYS_ADMIN or user namespaces',
  )
}

/** Leaves out what is of IPv6, on a machine that has none. */
const withoutMissing = <T>(expected: Record<string, T>): Record<string, T> =>
  existsSync('/proc/net/if_inet6')
    ? expected
    : Object.fromEntries(Object.entries(expected).filter(([key]) => !key.includes(':') && key !== 'six'))

// Other systems have no namespaces.
test.skipIf(process.platform !== 'linux')(
  'callbacks reach public addresses without any list, and no others, however they are named',
  () => {
    const [command = '', ...args] = findWay()
    const printed = execFileSync(command, [...args, process.execPath, program], { env, encoding: 'utf8' })
    const { outcomes, connections } = JSON.parse(printed) as Seen
    const refused = 'connect: the address of the upstream is not allowed'
    const inner = [
      '10.0.0.1',
      '192.168.7.7',
      '100.64.0.1',
      '169.254.169.254',
      '168.63.129.16',
      'fd12::1',
      '127.0.0.1',
      '::1',
    ]
    const byKey = Object.fromEntries(
      inner.flatMap((address) => [
        [`${address} registered`, 'refused'],
        [address, refused],
      ]),
    )
    expect(outcomes).toEqual(
      withoutMissing({
        '93.184.215.14 registered': 'accepted',
        '93.184.215.14': '200 93.184.215.14',
        '2606:4700:4700::1111 registered': 'accepted',
        '2606:4700:4700::1111': '200 2606:4700:4700::1111',
        ...byKey,
        six: '200 2606:4700:4700::1111',
        mixed: refused,
        flipping: '200 93.184.215.14',
        'flipping again': refused,
      }),
    )
    expect(connections).toEqual(
      withoutMissing({
        '93.184.215.14': 2,
        '2606:4700:4700::1111': 2,
        ...Object.fromEntries(inner.map((address) => [address, 0])),
      }),
    )
  },
)
