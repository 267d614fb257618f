// What must hold of a mixed history. Each checker names what breaks its rule, and none looks at the clock or the database.
import type { Operation } from '../recorder.ts'
import { keysOf } from '../recorder.ts'
import { checkSet } from '../checkers.ts'
import type { Arrival } from '../sockets.ts'
import type { FaultSpan, MixedHistory } from './history.ts'

/** Tenants: those that were acknowledged are there, no others but what ended unknown, each with one audit row. */
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
      ...unexpected.map((slug) => `tenant ${slug} was refused and is there`),
      ...unaudited.map(({ slug, audited }) => `tenant ${slug} has ${audited} audit rows`),
    ],
  }
}

/**
 * Register: a tenant has the name that was acknowledged last, or one whose outcome is unknown and that no acknowledged one
 * followed. Renames of one tenant come one after the other; but one without an answer may still take effect later.
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

/** Revocation: no use that began after the end of its credential was answered is accepted. */
export function checkEnded({ uses, endings }: Pick<MixedHistory, 'uses' | 'endings'>): {
  accepted: string[]
  judged: number
} {
  const ended = new Map(endings)
  const after = uses.filter(
    ({ credential, startedAt }) => startedAt > (ended.get(credential)?.answeredAt ?? Infinity),
  )
  return {
    accepted: after.filter(({ accepted }) => accepted).map(({ credential }) => credential),
    judged: after.length,
  }
}

/** Strangers: nobody is let in who may not. */
export const checkStrangers = ({ strangers }: Pick<MixedHistory, 'strangers'>): string[] =>
  strangers.filter(({ isLetIn }) => isLetIn).map(({ what, status }) => `${what}: ${status}`)

/** Calls: each that was answered by the partner has its row, with the status its caller got. */
export function checkCalls({ answered, logged }: Pick<MixedHistory, 'answered' | 'logged'>): string[] {
  const rows = new Map(logged.map(({ requestId, status }) => [requestId, status]))
  return answered
    .filter(({ requestId, status }) => rows.get(requestId) !== status)
    .map(({ requestId }) => requestId)
}

/** Uploads: what was accepted is served, byte for byte. */
export const checkUploads = ({ uploaded, served }: Pick<MixedHistory, 'uploaded' | 'served'>): string[] =>
  uploaded
    .filter(({ version, sha256 }) => served[version] !== sha256)
    .map(({ version }) => `version ${version} is served as ${served[version]}`)

/** Logins: a token is handed out once and works; unless a poll got no answer, an approved login has one. */
export function checkLogins({ logins }: Pick<MixedHistory, 'logins'>): { lost: string[]; twice: string[] } {
  return {
    lost: logins
      .filter(({ tokens, unknown, isValid }) => (tokens.length === 0 && unknown === 0) || isValid === false)
      .map(({ key, last, tokens }) => `login ${key}: ${tokens.length} tokens, ${last}`),
    twice: logins.filter(({ tokens }) => tokens.length > 1).map(({ key }) => `login ${key}`),
  }
}

/** The statuses that no fault excuses: the service answers what it can, or says that it cannot right now. */
export const checkStatuses = (
  operations: readonly Operation[],
  isAllowed: (operation: Operation) => boolean,
): string[] =>
  operations
    .filter((operation) => operation.status >= 500 && !isAllowed(operation))
    .map(({ op, status }) => `${op} ${status}`)

const writes = new Set(['create', 'rename', 'end', 'emit', 'upload'])

/** When writes of the callers were acknowledged. */
export const writeTimes = (operations: readonly Operation[]): number[] =>
  operations.filter(({ op, outcome }) => writes.has(op) && outcome === 'ok').map(({ end }) => end)

/** Longer than callers pause between two writes on a busy machine. */
const pauseMs = 1_500

/**
 * How long after a fault writes flow again: from it to the write that ends the last pause. A new leader may take a few writes
 * and then none until its standby follows; what counts is when it stays. Infinity when writes stop before the end.
 */
export function writesBackMs(times: readonly number[], { at, until }: { at: number; until: number }): number {
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
 * How long after the fault hints reach everyone again: from it to the first of the hints from which on none misses anybody.
 * Sockets of the sending replica get theirs all the time.
 */
export function hintsBackMs({
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
    .map(([sentAt, got]) => ({ sentAt, isWhole: got.length >= audience }))
    .sort((a, b) => a.sentAt - b.sentAt)
  const last = after.findLastIndex(({ isWhole }) => !isWhole)
  const back = after[last + 1]
  return back === undefined ? Infinity : back.sentAt - fault.at
}
