// Identifies the machine user of a token on routes that backends call directly. Every call reads the row,
// coalesced with concurrent calls. Every replica therefore rejects a rotated or disabled credential
// immediately.
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { parseAuthorization } from '../../platform/credentials/authorization.ts'
import type { AuthFailures } from '../../platform/credentials/auth-failures.ts'
import { AppError, rateLimited } from '../../platform/errors.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import { parseTokenHash } from './machine-token.pure.ts'
import { type Machine, readMachines } from './machine-users.store.ts'

export type MachineLoginDeps = {
  database: Pick<Database, 'run'>
  metrics: Metrics
  authFailures: Pick<AuthFailures, 'fail'>
  throttle: Throttle
}
type CheckResult =
  | { authenticated: true; machine_user_id: string; environment_id: string }
  | { authenticated: false; message: string }
export type MachineLoginService = ReturnType<typeof createMachineLoginService>

const expectedFormat = 'Expected: Bearer <token>'
const invalidTokenText = 'Invalid token: it belongs to no enabled machine user'
const tooManyFailuresText = 'too many failed authentication attempts'
const createInvalidFormatError = (): AppError =>
  new AppError('unauthenticated', `Invalid authorization format. ${expectedFormat}`)

export function createMachineLoginService({ database, metrics, authFailures, throttle }: MachineLoginDeps) {
  const findMachine = createCoalescer<Buffer, Machine>({
    getKey: (hash) => hash.toString('base64'),
    run: (hashes) => readMachines(database.run, hashes),
  })

  /**
   * Returns the machine user, or how long the client is blocked. The duration is 0 as long as failures are still
   * tolerated.
   */
  const findMachineUser = async (
    header: string,
    client: string,
  ): Promise<{ machine: Machine } | { blockedMs: number }> => {
    const authorization = parseAuthorization(header)
    if (authorization?.scheme !== 'bearer') {
      authFailures.fail('unknown_scheme', client)
      throw createInvalidFormatError()
    }
    const hash = parseTokenHash(authorization.value)
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
    /**
     * `header` is null if the request has no Authorization header. Such a request is rejected but does not
     * count as a failed guess.
     */
    authenticate: async (header: string | null, client: string): Promise<Machine> => {
      if (header === null)
        throw new AppError('unauthenticated', `Missing Authorization header. ${expectedFormat}`)
      const result = await findMachineUser(header, client)
      if ('machine' in result) return result.machine
      if (result.blockedMs === 0) throw new AppError('unauthenticated', invalidTokenText)
      throw rateLimited(tooManyFailuresText, result.blockedMs)
    },

    /** Reports to a backend whether its own credential is valid. An invalid token is a result, not an error. */
    check: async (header: string | null, client: string): Promise<CheckResult> => {
      if (header === null)
        return { authenticated: false, message: `no Authorization header was sent. ${expectedFormat}` }
      const result = await findMachineUser(header, client)
      if ('blockedMs' in result)
        return {
          authenticated: false,
          message: result.blockedMs > 0 ? tooManyFailuresText : invalidTokenText,
        }
      const { id, environmentId } = result.machine
      return { authenticated: true, machine_user_id: id, environment_id: environmentId }
    },
  }
}
