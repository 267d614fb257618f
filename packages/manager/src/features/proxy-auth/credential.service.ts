// Verifies the credential that a caller sent to the proxy: a personal access token, a machine token, or Basic
// credentials. One statement, coalesced with concurrent requests, reads all data. The slow hash runs once per secret
// and process.
import type { Activity } from '../../platform/credentials/activity.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { parseAuthorization, parseBasic } from '../../platform/credentials/authorization.ts'
import type { AuthFailures, FailureKind } from '../../platform/credentials/auth-failures.ts'
import { AppError } from '../../platform/errors.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import type { AccessTokensApi } from '../access-tokens/index.ts'
import type { MachineUsersApi } from '../machine-users/index.ts'
import { createAccessReader } from './access-reads.service.ts'
import { userColumns } from './access.pure.ts'
import { type Validation, createMachineValidation, createPersonValidation } from './responses.pure.ts'
import type { BasicLogin } from './basic-login.service.ts'
import * as store from './proxy-auth.store.ts'
import { createInvalidCredentialsError, createTooManyFailuresError } from './errors.pure.ts'

export type CredentialDeps = {
  database: Pick<Database, 'run'>
  metrics: Metrics
  authFailures: Pick<AuthFailures, 'fail'>
  activity: Pick<Activity, 'recordUser' | 'recordMachineUser'>
  throttle: Throttle
  accessTokens: AccessTokensApi
  machineUsers: MachineUsersApi
}
export type ValidateCredential = ReturnType<typeof createCredentialValidator>
type Attempt = { kind: 'pat' | 'bearer' | 'basic' | 'other'; pending: Promise<Validation | null> }

const { accessTokenStatements: tokenStatements, machineTokenStatements: machineStatements } = store

/** Returns a function that returns the owner of a credential and their access. It throws 401, 429 or 503. */
export function createCredentialValidator(deps: CredentialDeps, basicLogin: BasicLogin) {
  const { database, metrics, activity, authFailures, throttle, accessTokens, machineUsers } = deps
  const findByAccessToken = createAccessReader<store.TokenAccess>(database, tokenStatements, userColumns)
  const findByMachineToken = createAccessReader<store.MachineAccess>(database, machineStatements, [])

  const validateAccessToken = async (text: string, applicationId: string): Promise<Validation | null> => {
    const token = await accessTokens.present(text)
    const row = token === null ? null : await findByAccessToken({ key: token.prefix, applicationId })
    if (token === null || row === null || !(await accessTokens.matches(token, row))) return null
    return createPersonValidation(row, row, true)
  }
  const validateMachineToken = async (key: Buffer, applicationId: string): Promise<Validation | null> => {
    const row = await findByMachineToken({ key, applicationId })
    return row?.enabled === true ? createMachineValidation(row) : null
  }
  const validateBasic = async (
    value: string,
    applicationId: string,
    client: string,
  ): Promise<Validation | null> => {
    const login = parseBasic(value)
    return login === null ? null : createMachineValidation(await basicLogin(login, applicationId, client))
  }
  const attempt = (header: string, applicationId: string, client: string): Attempt => {
    // A personal access token may also be sent without a scheme.
    const isBare = header.startsWith('pat_')
    const bareToken = { scheme: 'bearer', value: header }
    const { scheme, value } = (isBare ? bareToken : parseAuthorization(header)) ?? otherScheme
    if (scheme === 'basic') return { kind: 'basic', pending: validateBasic(value, applicationId, client) }
    if (scheme !== 'bearer') return { kind: 'other', pending: Promise.resolve(null) }
    const hash = machineUsers.tokenHash(value)
    return hash === null
      ? { kind: 'pat', pending: validateAccessToken(value, applicationId) }
      : { kind: 'bearer', pending: validateMachineToken(hash, applicationId) }
  }

  /** Returns the validation. Counts a failure unless the Basic check has already counted it. */
  const requireValid = async (pending: Promise<Validation | null>, client: string): Promise<Validation> => {
    const validation = await pending
    if (validation !== null) return validation
    const blockedMs = await throttle.fail(client)
    throw blockedMs > 0 ? createTooManyFailuresError(blockedMs) : createInvalidCredentialsError()
  }

  return async (header: string, applicationId: string, client: string): Promise<Validation> => {
    const { kind, pending } = attempt(header, applicationId, client)
    try {
      const validation = await requireValid(pending, client)
      throttle.succeed(client)
      if (validation.user.is_machine_user) activity.recordMachineUser(validation.user.id)
      else activity.recordUser(validation.user.id)
      metrics.auth.inc({ kind, outcome: 'ok' })
      return validation
    } catch (error) {
      const outcome = outcomes[error instanceof AppError ? error.code : ''] ?? 'failed'
      metrics.auth.inc({ kind, outcome })
      if (outcome !== 'failed') authFailures.fail(evidenceKinds[kind], client)
      throw error
    }
  }
}

const otherScheme = { scheme: 'other', value: '' }
const evidenceKinds = {
  pat: 'pat',
  bearer: 'machine_token',
  basic: 'basic',
  other: 'unknown_scheme',
} as const satisfies Record<Attempt['kind'], FailureKind>
const outcomes: Record<string, 'refused' | 'throttled'> = {
  unauthenticated: 'refused',
  rate_limited: 'throttled',
}
