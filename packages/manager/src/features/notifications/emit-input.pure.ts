// Validates emits and live data, and computes the canonical form for comparing bodies. The readers return the parsed
// value or throw an error that names the field and the rule.
import { badRequest } from '../../platform/errors.ts'
import { checkEach, checkFields } from '../../platform/inputs/fields.ts'
import { checkText, hasForbiddenCharacters, isLongerThan } from '../../platform/inputs/inputs.ts'
import { parseTimestamp } from '../../platform/inputs/timestamps.ts'

type Severity = 'error' | 'info' | 'success' | 'warning'

/** A body that the route schema has validated. An absent field may also be null. */
export type EmitBody = {
  recipients?: string[]
  roles?: string[]
  type?: string | null
  title?: string | null
  body?: string | null
  severity?: Severity | null
  link?: string | null
  data?: unknown
  expires_at?: string | null
  dedupe_key?: string | null
}

/** Content and audience of a notification. Without recipients and roles, it is sent to every member. */
export type EmitInput = {
  recipients: string[] | null
  roles: string[] | null
  type: string | null
  title: string | null
  body: string | null
  severity: Severity
  link: string | null
  /** The data as JSON text. */
  data: string | null
  expiresAt: string | null
  key: string | null
}

/** Maximum size of a request body. */
export const maxBodyBytes = 131_072

export const limits = {
  recipients: 1_000,
  roles: 50,
  roleName: 100,
  type: 100,
  title: 200,
  body: 4_000,
  link: 2_000,
  dataBytes: 16_384,
  dataDepth: 64,
  key: 200,
  topic: 100,
} as const

/** Parses the body of an emit. `header` is the Idempotency-Key header. */
export function readEmitInput(body: EmitBody, header: string | null): EmitInput {
  const { recipients, roles, type = null, title = null, body: text = null, link = null } = body
  const checked = checkFields({
    roles: () => (roles === undefined ? null : sortUnique(checkEach(roles, checkRole))),
    type: () => (type === null ? null : checkType(type)),
    title: () => (title === null ? null : checkText(title, 'title', limits.title)),
    body: () => (text === null ? null : checkText(text, 'body', limits.body)),
    link: () => (link === null ? null : checkLink(link)),
    data: () => readData(body.data),
    expires_at: () => readExpiry(body.expires_at ?? null),
    dedupe_key: () => readKey(header, body.dedupe_key ?? null),
  })
  // The canonical form depends on this order, and previous releases have stored it.
  return {
    recipients: recipients === undefined ? null : sortUnique(recipients.map((id) => id.toLowerCase())),
    roles: checked.roles,
    type: checked.type,
    title: checked.title,
    body: checked.body,
    severity: body.severity ?? 'info',
    link: checked.link,
    data: checked.data,
    expiresAt: checked.expires_at,
    key: checked.dedupe_key,
  }
}

/** Parses the body of a publication. Without data, `data` is the text `null`. */
export const readLiveData = ({ topic, data }: { topic?: string | null; data?: unknown }) =>
  checkFields({ topic: () => readTopic(topic), data: () => readData(data) ?? 'null' })

/**
 * Returns a value as JSON, or null if the value is absent or null. Throws 400 if it is too long or nested too
 * deeply.
 */
function readData(value: unknown): string | null {
  if (value === undefined || value === null) return null
  // The depth is checked before JSON.stringify, which recurses once per level.
  if (isDeeperThan(value, limits.dataDepth))
    throw badRequest(`data must not be nested deeper than ${limits.dataDepth} levels`)
  const json = JSON.stringify(value)
  if (json.length > limits.dataBytes || Buffer.byteLength(json) > limits.dataBytes)
    throw badRequest(`data must be at most ${limits.dataBytes} bytes when serialized as JSON`)
  return json
}

const readTopic = (topic: string | null | undefined): string | null =>
  topic === null || topic === undefined ? null : checkText(topic, 'topic', limits.topic)

const sortUnique = (values: string[]): string[] => [...new Set(values)].toSorted()

function checkRole(name: string): string {
  if (name === '' || isLongerThan(name, limits.roleName) || hasForbiddenCharacters(name))
    throw badRequest(`roles must be names of 1 to ${limits.roleName} characters`)
  return name
}

function checkType(type: string): string {
  const isDotted =
    type.length <= limits.type && type.split('.').every((part) => /^[A-Za-z0-9_-]+$/.test(part))
  if (!isDotted)
    throw badRequest(
      `type must be a dotted name such as order.shipped, of at most ${limits.type} letters, digits, _, - and dots`,
    )
  return type
}

/** Accepts a path within the application or an https URL. */
function checkLink(link: string): string {
  // Browsers remove tabs and line breaks before they parse a URL, and treat a leading backslash as a slash.
  const isClean = link.length <= limits.link && !/[\t\r\n]/.test(link) && !hasForbiddenCharacters(link)
  const isPath = /^\/(?![/\\])/.test(link)
  const isHttps = /^https:\/\/[^/\\]/i.test(link) && URL.canParse(link)
  if (!isClean || !(isPath || isHttps))
    throw badRequest(
      `link must be a path that starts with a single /, or an https URL, of at most ${limits.link} characters and without control characters`,
    )
  return link
}

/** Checks only the format. The database clock determines whether the time is in the future. */
function readExpiry(text: string | null): string | null {
  if (text === null) return null
  const instant = parseTimestamp(text)
  if (instant === null)
    throw badRequest('expires_at must be an RFC 3339 time with a zone, such as 2030-01-31T12:00:00Z')
  return instant.toISOString()
}

function readKey(header: string | null, dedupeKey: string | null): string | null {
  if (header !== null && dedupeKey !== null && header !== dedupeKey)
    throw badRequest('Idempotency-Key and dedupe_key differ; send only one of them')
  const key = header ?? dedupeKey
  if (key === null) return null
  const name = header === null ? 'dedupe_key' : 'Idempotency-Key'
  if (key === '' || isLongerThan(key, limits.key) || hasForbiddenCharacters(key))
    throw badRequest(`${name} must have 1 to ${limits.key} characters, without control characters`)
  return key
}

/**
 * Returns whether arrays and objects are nested deeper than `depth`. The function is iterative, so that deep input
 * cannot overflow the stack.
 */
function isDeeperThan(value: unknown, depth: number): boolean {
  let level: unknown[] = [value]
  for (let currentDepth = 0; level.length > 0; currentDepth++) {
    const containers = level.filter((one) => typeof one === 'object' && one !== null)
    if (containers.length > 0 && currentDepth >= depth) return true
    level = containers.flatMap((one) => Object.values(one) as unknown[])
  }
  return false
}

/** Returns the same string for equivalent bodies, regardless of the order of their fields. */
export const formatCanonicalText = ({ key: _key, data, ...input }: EmitInput): string =>
  JSON.stringify([input, data === null ? null : sortFields(JSON.parse(data))])

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields)
  if (typeof value !== 'object' || value === null) return value
  // Pairs are used, because an object would sort integer-like keys first and cannot store `__proto__`.
  const pairs = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { pairs: pairs.map(([key, one]) => [key, sortFields(one)]) }
}
