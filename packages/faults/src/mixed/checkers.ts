// Checks the rules for a history of the mixed load. Each checker returns the violations of its rule, and no
// checker reads the clock or the database.
import type { Operation } from '../recorder.ts'
import { keysOf } from '../recorder.ts'
import { checkSet } from '../checkers.ts'
import type { Arrival } from '../sockets.ts'
import type { FaultSpan, MixedHistory } from './history.ts'

/**
 * Tenant rule: all acknowledged tenants exist, and other tenants exist only if their outcome is unknown. Each has one
 * audit row.
 */
export function checkTenants({ operations, tenants }: Pick<MixedHistory, 'operations' | 'tenants'>): {
  lost: string[]
  strange: string[]
} {
  const { missing, unexpected } = checkSet({
    ok: keysOf(operations, 'create', 'ok'),
    unknown: keysOf(operations, 'create', 'unknown'),
    stored: tenants.map(({ slug }) => slug),
  })
  const unaudited = tenants.filter(({ audited }) => audited !== 1)
  return {
    lost: missing.map((slug) => `tenant ${slug}`),
    strange: [
      ...unexpected.map((slug) => `tenant ${slug} exists although it was rejected`),
      ...unaudited.map(({ slug, audited }) => `tenant ${slug} has ${audited} audit rows`),
    ],
  }
}

/**
 * Register rule: a tenant has the name that was acknowledged last, or a name whose outcome is unknown. The renames of
 * a tenant are sent one at a time, but a rename without a response may still take effect later.
 */
export function checkRegisters({ renames, names }: Pick<MixedHistory, 'renames' | 'names'>): string[] {
  return [...Map.groupBy(renames, ({ register }) => register)].flatMap(([register, writes]) => {
    const inOrder = [...writes].sort((a, b) => a.start - b.start)
    const last = inOrder.findLastIndex(({ outcome }) => outcome === 'ok')
    const allowed = inOrder.filter(({ outcome }, index) => index === last || outcome === 'unknown')
    const name = names[register]
    const isFirst = last === -1 && name === 'v0'
    return isFirst || allowed.some(({ value }) => value === name) ? [] : [`tenant ${register} is ${name}`]
  })
}

/** Revocation rule: no use of a credential is accepted if it started after the invalidation was confirmed. */
export function checkInvalidated({ uses, invalidations }: Pick<MixedHistory, 'uses' | 'invalidations'>): {
  accepted: string[]
  judged: number
} {
  const invalidatedAt = new Map(invalidations)
  const after = uses.filter(
    ({ credential, startedAt }) => startedAt > (invalidatedAt.get(credential)?.confirmedAt ?? Infinity),
  )
  return {
    accepted: after.filter(({ accepted }) => accepted).map(({ credential }) => credential),
    judged: after.length,
  }
}

/** Stranger rule: no caller without access succeeds. */
export const checkStrangers = ({ strangers }: Pick<MixedHistory, 'strangers'>): string[] =>
  strangers.filter(({ hasSucceeded }) => hasSucceeded).map(({ what, status }) => `${what}: ${status}`)

/** Call rule: each call that the partner responded to has a log row with the status that the caller received. */
export function checkCalls({ answered, logged }: Pick<MixedHistory, 'answered' | 'logged'>): string[] {
  const rows = new Map(logged.map(({ requestId, status }) => [requestId, status]))
  return answered
    .filter(({ requestId, status }) => rows.get(requestId) !== status)
    .map(({ requestId }) => requestId)
}

/** Upload rule: every accepted version is served byte for byte. */
export const checkUploads = ({ uploaded, served }: Pick<MixedHistory, 'uploaded' | 'served'>): string[] =>
  uploaded
    .filter(({ version, sha256 }) => served[version] !== sha256)
    .map(({ version }) => `version ${version} is served as ${served[version]}`)

/** Login rule: a token is issued once and works. An approved login has a token, unless a poll got no response. */
export function checkLogins({ logins }: Pick<MixedHistory, 'logins'>): { lost: string[]; twice: string[] } {
  return {
    lost: logins
      .filter(({ tokens, unknown, isValid }) => (tokens.length === 0 && unknown === 0) || isValid === false)
      .map(({ key, last, tokens }) => `login ${key}: ${tokens.length} tokens, ${last}`),
    twice: logins.filter(({ tokens }) => tokens.length > 1).map(({ key }) => `login ${key}`),
  }
}

/** Returns 5xx responses that no fault excuses. The service must either process a call or reject it with 503. */
export const checkStatuses = (
  operations: readonly Operation[],
  isAllowed: (operation: Operation) => boolean,
): string[] =>
  operations
    .filter((operation) => operation.status >= 500 && !isAllowed(operation))
    .map(({ op, status }) => `${op} ${status}`)

const writes = new Set(['create', 'rename', 'invalidate', 'emit', 'upload'])

/** Returns the times at which writes were acknowledged. */
export const writeTimes = (operations: readonly Operation[]): number[] =>
  operations.filter(({ op, outcome }) => writes.has(op) && outcome === 'ok').map(({ end }) => end)

/** Longer gaps between writes count as a pause. Gaps that a busy machine causes are shorter. */
const pauseMs = 1_500

/**
 * Returns the time from a fault to the write that ends the last pause. A new leader may accept a few writes and then
 * none until its standby follows. Therefore, the last pause is measured. Returns Infinity if writes do not continue
 * until the end.
 */
export function writeRecoveryMs(
  times: readonly number[],
  { at, until }: { at: number; until: number },
): number {
  const inOrder = times.filter((time) => time > at - pauseMs && time <= until).sort((a, b) => a - b)
  const steps = [at, ...inOrder.filter((time) => time > at)]
  const lastAt = steps.at(-1) as number
  if (Number.isFinite(until) && until - lastAt > pauseMs) return Infinity
  if (steps.length === 1) return Infinity
  const last = steps.findLastIndex(
    (time, index) => index > 0 && time - (steps[index - 1] as number) > pauseMs,
  )
  return last === -1 ? 0 : (steps[last] as number) - at
}

/**
 * Returns the time from the fault to the first hint after which no hint is lost. A hint is a best-effort
 * message. Sockets of the sending replica receive hints during the fault too.
 */
export function hintRecoveryMs({
  arrivals,
  audience,
  faults,
}: {
  arrivals: readonly Arrival[]
  audience: number
  faults: readonly FaultSpan[]
}): number {
  const [fault] = faults
  if (fault === undefined) return Infinity
  const counts = Map.groupBy(arrivals, ({ key }) => Number(key.split(' ')[1]))
  const after = [...counts]
    .filter(([sentAt]) => sentAt > fault.at)
    .map(([sentAt, got]) => ({ sentAt, isComplete: got.length >= audience }))
    .sort((a, b) => a.sentAt - b.sentAt)
  const last = after.findLastIndex(({ isComplete }) => !isComplete)
  const back = after[last + 1]
  return back === undefined ? Infinity : back.sentAt - fault.at
}
