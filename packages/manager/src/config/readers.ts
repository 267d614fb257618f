// Readers for individual configuration values. Each reader accepts a raw value from the file or the
// environment. It returns the parsed value, or a problem message that says what to do.
import { isIP } from 'node:net'

export type Reader<T> = {
  (raw: unknown): { value: T } | { problem: string }
  /** Formats a value as text, for types whose default text cannot be parsed again. */
  show?(value: T): string
}

export type Setting<T, Optional extends boolean> = {
  read: Reader<T>
  key: string
  env: string
  doc: string
  default?: T
  secret: boolean
  optional: Optional
  /**
   * Whether the setting is obsolete. It has no effect and causes a warning, so that configurations of the
   * previous release still work.
   */
  isRetired?: boolean
}

export type SettingsTable = Record<string, Setting<unknown, boolean>>
type ValueOf<S> =
  S extends Setting<infer T, infer Optional> ? (Optional extends true ? T | undefined : T) : never
/** The value types of a settings table. */
export type ValuesOf<Table> = { [Name in keyof Table]: ValueOf<Table[Name]> }

type Options<T> = { key: string; env: string; doc: string; default?: T } & {
  secret?: boolean
  optional?: boolean
  isRetired?: boolean
}

/** Declares one setting. With `optional: true`, its type includes undefined. */
export function defineSetting<T, O extends Options<T>>(read: Reader<T>, options: O) {
  const optional = (options.optional ?? false) as O['optional'] extends true ? true : false
  const result: Setting<T, O['optional'] extends true ? true : false> = {
    secret: false,
    ...options,
    read,
    optional,
  }
  return result
}

/** Reads one of a closed list of words. */
export function oneOf<const T extends string>(...allowed: T[]): Reader<T> {
  return (raw) =>
    allowed.includes(raw as T) ? { value: raw as T } : { problem: `must be one of ${allowed.join(', ')}` }
}

/** Reads a non-empty string of limited length. */
export function text(maxLength: number): Reader<string> {
  return (raw) => {
    const value = typeof raw === 'number' ? String(raw) : raw
    if (typeof value !== 'string' || value.length === 0 || value.length > maxLength)
      return { problem: `must be a string of 1 to ${maxLength} characters` }
    return { value }
  }
}

/**
 * Reads a secret that is sent in a header. Rejects a value that a header would change, because it would never match.
 */
export const headerSecret: Reader<string> = (raw) =>
  typeof raw === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/.test(raw)
    ? { value: raw }
    : {
        problem:
          'must be a string of 1 to 1024 printable ASCII characters without leading or trailing spaces',
      }

/** Reads a short lowercase word. */
export const word: Reader<string> = (raw) =>
  typeof raw === 'string' && /^[a-z][a-z0-9-]{0,31}$/.test(raw)
    ? { value: raw }
    : { problem: 'must be a lowercase word such as production' }

/** Reads a whole number within bounds. */
export function integer(min: number, max: number): Reader<number> {
  return (raw) => {
    const value = typeof raw === 'string' && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
      return { problem: `must be a whole number from ${min} to ${max}` }
    return { value }
  }
}

/** Reads a fraction from 0 to 1. */
export const ratio: Reader<number> = (raw) => {
  const value = typeof raw === 'string' && /^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/.test(raw) ? Number(raw) : raw
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    return { problem: 'must be a number from 0 to 1, such as 0.1' }
  return { value }
}

/**
 * Reads a service URL. Credentials in the URL would be displayed, and a query or fragment would have no
 * effect.
 */
export const serviceUrl: Reader<string> = (raw) => {
  const parsedUrl = typeof raw === 'string' ? URL.parse(raw) : null
  const isPlain =
    parsedUrl !== null &&
    (parsedUrl.protocol === 'http:' || parsedUrl.protocol === 'https:') &&
    parsedUrl.username + parsedUrl.password + parsedUrl.search + parsedUrl.hash === ''
  return isPlain
    ? { value: raw as string }
    : { problem: 'must be a URL starting with http:// or https://, without credentials, query or fragment' }
}

const unitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000 }

/** Reads a duration such as 500ms, 30s or 2m, or a whole number of seconds. The value is in milliseconds. */
export function duration(minMs: number, maxMs: number): Reader<number> {
  const read: Reader<number> = (raw) => {
    const [, count, unit = 's'] = /^(\d{1,9})(ms|s|m)?$/.exec(String(raw)) ?? []
    const value = count === undefined ? Number.NaN : Number(count) * (unitsMs[unit] as number)
    if (!(value >= minMs && value <= maxMs))
      return { problem: `must be a duration such as 30s or 500ms, from ${minMs}ms to ${maxMs / 1_000}s` }
    return { value }
  }
  return Object.assign(read, { show: formatDuration })
}

const formatDuration = (ms: number): string => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`)

/** Reads a list of durations. `none` is an empty list, because an empty variable counts as absent. */
export function durationList(bounds: {
  minMs: number
  maxMs: number
  maxEntries: number
}): Reader<readonly number[]> {
  const readDuration = duration(bounds.minMs, bounds.maxMs)
  const read: Reader<readonly number[]> = (raw) => {
    const list = raw === 'none' ? [] : splitList(raw)
    const values = list.map((item) => readDuration(item))
    const isValid = values.every((one): one is { value: number } => 'value' in one)
    return isValid && list.length <= bounds.maxEntries
      ? { value: values.map(({ value }) => value) }
      : {
          problem: `must be none, or a list of at most ${bounds.maxEntries} durations such as 5s,30s, each from ${formatDuration(bounds.minMs)} to ${formatDuration(bounds.maxMs)}`,
        }
  }
  return Object.assign(read, { show: formatDurations })
}

const formatDurations = (values: readonly number[]): string =>
  values.length === 0 ? 'none' : values.map(formatDuration).join(',')

/** Reads true or false. */
export const boolean: Reader<boolean> = (raw) => {
  if (raw === true || raw === 'true' || raw === '1') return { value: true }
  if (raw === false || raw === 'false' || raw === '0') return { value: false }
  return { problem: 'must be true or false' }
}

/**
 * Reads an absolute URL with one of the given schemes. Problem messages never repeat the URL, because it may
 * contain a password.
 */
export function url(...schemes: string[]): Reader<string> {
  return (raw) => {
    const parsedUrl = typeof raw === 'string' ? URL.parse(raw) : null
    if (parsedUrl === null || !schemes.includes(parsedUrl.protocol.slice(0, -1)))
      return { problem: `must be a URL starting with ${schemes.map((s) => `${s}://`).join(' or ')}` }
    return { value: raw as string }
  }
}

/** Reads the base64 of exactly 32 bytes. */
export const base64Key: Reader<Buffer> = (raw) => {
  // Check the text before decoding: the decoder skips unknown characters and stops at the first padding.
  const isKey = typeof raw === 'string' && /^[A-Za-z0-9+/]{43}=?$/.test(raw)
  if (!isKey) return { problem: 'must be the base64 of 32 bytes (`openssl rand -base64 32`)' }
  return { value: Buffer.from(raw, 'base64') }
}

/** Reads encryption keys by id, written as comma-separated `id:base64`. The first key is active. */
export const keyRing: Reader<ReadonlyMap<string, Buffer>> = (raw) => {
  const ring = new Map<string, Buffer>()
  for (const part of splitList(raw)) {
    const [, id, key] = /^([a-z0-9-]{1,32}):(.+)$/.exec(String(part)) ?? []
    const bytes = Buffer.from(key ?? '', 'base64')
    const isKey = bytes.length === 32 && bytes.toString('base64') === key
    if (id === undefined || !isKey || ring.has(id) || id === 'master')
      return {
        problem:
          'must be a list of id:key separated by commas, each id once and not "master", each key the base64 of 32 bytes (`openssl rand -base64 32`)',
      }
    ring.set(id, bytes)
  }
  return { value: ring }
}

const roleNames = ['api', 'gateway', 'comms', 'jobs'] as const
export type RoleName = (typeof roleNames)[number]

/** Splits a comma-separated text. A list in the configuration file stays unchanged. */
export const splitList = (raw: unknown): unknown[] =>
  Array.isArray(raw) ? raw : typeof raw === 'string' ? raw.split(',').map((part) => part.trim()) : [raw]

/** Reads a list of one or more process roles. */
export const roles: Reader<RoleName[]> = (raw) => {
  const list = splitList(raw)
  const isKnown = list.every((item): item is RoleName => roleNames.includes(item as RoleName))
  if (!isKnown || list.length === 0) return { problem: `must be a list of ${roleNames.join(', ')}` }
  return { value: [...new Set(list)] }
}

/** Reads a list of at most `max` addresses, each with a host and a port. An empty list is allowed. */
export function addressList(max: number): Reader<string[]> {
  return (raw) => {
    const list = splitList(raw).filter((item) => item !== '')
    const isValid = list.every((item): item is string => {
      const [, name, port] =
        /^(?:([a-zA-Z0-9._-]{1,253})|\[[0-9a-fA-F:.]{2,45}\]):(\d{1,5})$/.exec(String(item)) ?? []
      return (
        (name !== undefined || isIP(String(item).slice(1, String(item).indexOf(']'))) === 6) && isPort(port)
      )
    })
    return isValid && list.length <= max
      ? { value: [...new Set(list)] }
      : { problem: `must be a list of at most ${max} addresses such as 10.0.0.2:6379 or [fd12::5]:6379` }
  }
}

const isPort = (text: string | undefined): boolean => Number(text) >= 1 && Number(text) <= 65_535

/** Reads a list of networks in CIDR notation. An empty list is allowed. */
export const cidrList: Reader<string[]> = (raw) => {
  const list = splitList(raw).filter((item) => item !== '')
  const isValid = list.every((item): item is string => {
    const [address = '', bits = '', ...rest] = String(item).split('/')
    const family = isIP(address)
    return (
      family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
    )
  })
  return isValid ? { value: list } : { problem: 'must be a list of networks such as 10.0.0.0/8' }
}
