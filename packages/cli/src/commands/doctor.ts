// The command `doctor`, which finds out why svc does not work.
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { findProfile } from '../credentials.ts'
import { checkAccess } from '../doctor/access-checks.ts'
import { type Check, fail, ok, skip } from '../doctor/check.ts'
import { checkConnection, checkNetworkProxy } from '../doctor/network-checks.ts'
import { Failure } from '../failures.ts'
import { printRemark, printRows } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { checkUrl, getConfiguredUrl } from '../session.ts'
import { formatCount } from '../words.ts'
import type { Terminal } from '../terminal.ts'

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'doctor',
    description:
      'Check the address, the network proxy, the connection, the clock, the token and the permissions. Exits with 1 if a check fails.',
    summary: 'Find out why svc does not work.',
    examples: ['doctor', 'doctor --url https://manager.example.com', 'doctor -p shop --json'],
  })
  addParentOptions(command, 'project')
  setAction<ParentOptions>(command, terminal, runChecks)
}

async function runChecks(context: Context, _args: string[], options: ParentOptions): Promise<void> {
  const { terminal, format } = context
  const checks = await listChecks(context, options)
  // Hints are sentences, which a table would cut.
  printRows(terminal, format, ['check', 'status', 'result'], checks)
  if (format === 'table')
    for (const { check, hint } of checks) if (hint !== null) printRemark(terminal, `${check}: ${hint}`)
  const failedCount = checks.filter(({ status }) => status === 'failed').length
  if (failedCount > 0) throw new Failure('failed', `${formatCount(failedCount, 'check')} failed.`)
}

async function listChecks(context: Context, options: ParentOptions): Promise<Check[]> {
  const address = await checkAddress(context)
  const networkProxy = checkNetworkProxy(context.terminal)
  const others = ['connection', 'clock', 'token', 'expiry', 'permissions'] as const
  if (address.url === null)
    return [address.check, networkProxy, ...others.map((check) => skip(check, 'no address'))]
  const [connection, clock] = await checkConnection(address.url, context.signal)
  const isConnected = connection.status !== 'failed'
  const access = isConnected
    ? await checkAccess(context, options)
    : (['token', 'expiry', 'permissions'] as const).map((check) => skip(check, 'no connection'))
  return [address.check, networkProxy, connection, clock, ...access]
}

/** Returns the address that other commands would use, and where it comes from. */
async function checkAddress({ terminal, target }: Context): Promise<{ check: Check; url: string | null }> {
  try {
    const configuredUrl = getConfiguredUrl(terminal, target)
    if (configuredUrl !== null) {
      const source = target.url === undefined ? 'SVC_URL' : '--url'
      return { check: ok('address', `${configuredUrl} (${source})`), url: configuredUrl }
    }
    const profile = await findProfile(terminal, target.profile)
    if (profile === null) {
      const hint = 'Sign in with: svc login --url <address>'
      return { check: fail('address', 'there is no address', hint), url: null }
    }
    const url = checkUrl(profile.url, target.plainHttp ?? false)
    return { check: ok('address', `${url} (sign-in ${target.profile})`), url }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { check: fail('address', 'the address cannot be used', error.message), url: null }
  }
}
