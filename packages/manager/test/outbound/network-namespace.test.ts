// Tests callbacks to public addresses, which a machine without a public address cannot receive. In an isolated network
// namespace, this machine has such addresses but no route to the outside.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ensureIp } from '@manager/harness/engines/install.ts'
import type { Seen } from './inside-namespace.ts'

const program = fileURLToPath(new URL('inside-namespace.ts', import.meta.url))
// These programs are often not in the PATH of users other than root.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
/** Commands for root, for users who may create user namespaces, and for hosted runners. */
const namespaceCommands = [
  ['unshare', '--net'],
  ['unshare', '--map-root-user', '--net'],
  ['sudo', '-n', 'unshare', '--net'],
]

/**
 * Returns the first command that can run a program in a namespace. If none works, throws with the reason and a remedy.
 */
function findNamespaceCommand(): string[] {
  ensureIp()
  const problems: string[] = []
  for (const namespaceCommand of namespaceCommands)
    try {
      const [command = '', ...args] = namespaceCommand
      execFileSync(command, [...args, 'ip', 'link', 'set', 'lo', 'up'], { env, stdio: 'pipe' })
      return namespaceCommand
    } catch (error) {
      problems.push(
        `${namespaceCommand.join(' ')}: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`,
      )
    }
  throw new Error(
    `cannot create a network namespace (${problems.join('; ')}); install util-linux and iproute2, and ` +
      'give the container CAP_SYS_ADMIN or user namespaces',
  )
}

/** Omits IPv6 entries on a machine without IPv6. */
const withoutMissing = <T>(expected: Record<string, T>): Record<string, T> =>
  existsSync('/proc/net/if_inet6')
    ? expected
    : Object.fromEntries(Object.entries(expected).filter(([key]) => !key.includes(':') && key !== 'six'))

// Other systems have no network namespaces.
test.skipIf(process.platform !== 'linux')(
  'callbacks reach public addresses without any list, and no others, however they are named',
  () => {
    const [command = '', ...args] = findNamespaceCommand()
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
