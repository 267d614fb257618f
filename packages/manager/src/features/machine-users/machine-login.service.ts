// Identifies the machine user of a token on routes that backends call directly. Every call reads the row, coalesced
// with concurrent calls. A rotated or disabled credential is therefore rejected immediately on every replica.
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { parseAuthorization } from '../../platform/credentials/authorization.ts'
import type { AuthFailures } from '../../platform/credentials/auth-failures.ts'
import { AppError, rateLimited } from '../../platform/errors.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import { machineTokenHash } from './machine-token.pure.ts'
import { type Machine, readMachines } from './machine-users.store.ts'

export type MachineLoginDeps = {
  database: Pick<Database, 'run'>
  metrics: Metrics
  authFailures: Pick<AuthFailures, 'fail'>
  throttle: Throttle
}
type Check =
  | { authenticated: true; machine_user_id: string; environment_id: string }
  | { authenticated: false; message: string }
export type MachineLoginService = ReturnType<typeof createMachineLoginService>

const expected = 'Expected: Bearer <token>'
const refusal = 'Invalid token: it belongs to no enabled machine user'
const tooMany = 'too many failed authentication attempts'
const wrongFormat = (): AppError =>
  new AppError('unauthenticated', `Invalid authorization format. ${expected}`)

export function createMachineLoginService({ database, metrics, authFailures, throttle }: MachineLoginDeps) {
  const findMachine = createCoalesced<Buffer, Machine>({
    keyOf: (hash) => hash.toString('base64'),
    run: (hashes) => readMachines(database.run, hashes),
  })

  /** Returns the machine user, or how long the client is blocked (0 while failures are still tolerated). */
  const examine = async (
    header: string,
    client: string,
  ): Promise<{ machine: Machine } | { blockedMs: number }> => {
    const authorization = parseAuthorization(header)
    if (authorization?.scheme !== 'bearer') {
      authFailures.fail('unknown_scheme', client)
      throw wrongFormat()
    }
    const hash = machineTokenHash(authorization.value)
    const machine = hash === null ? null : await findMachine(hash)
    if (machine !== null) {
      // A correct token has 256 random bits and cannot be guessed, so it is accepted even while its client is blocked.
      throttle.succeed(client)
      metrics.auth.inc({ kind: 'bearer', outcome: 'ok' })
      return { machine }
    }
    authFailures.fail('machine_token', client)
    const blockedMs = await throttle.fail(client)
    metrics.auth.inc({ kind: 'bearer', outcome: blockedMs > 0 ? 'throttled' : 'refused' })
    return { blockedMs }
  }

  return {
    /** `header` is null if the request has none. Such a request is rejected but does not count as a failed guess. */
    authenticate: async (header: string | null, client: string): Promise<Machine> => {
      if (header === null) throw new AppError('unauthenticated', `Missing Authorization header. ${expected}`)
      const result = await examine(header, client)
      if ('machine' in result) return result.machine
      if (result.blockedMs === 0) throw new AppError('unauthenticated', refusal)
      throw rateLimited(tooMany, result.blockedMs)
    },

    /** Reports to a backend whether its own credential is valid. An invalid token is a result, not an error. */
    check: async (header: string | null, client: string): Promise<Check> => {
      if (header === null)
        return { authenticated: false, message: `no Authorization header was sent. ${expected}` }
      const result = await examine(header, client)
      if ('blockedMs' in result)
        return { authenticated: false, message: result.blockedMs > 0 ? tooMany : refusal }
      const { id, environmentId } = result.machine
      return { authenticated: true, machine_user_id: id, environment_id: environmentId }
    },
  }
}
