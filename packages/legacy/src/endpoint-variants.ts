// Endpoints of clones with the same behavior at the same path become one endpoint. The others become variants: the
// variant that most clones have keeps the path. No caller is routed to the partner of another tenant.
import { createHash } from 'node:crypto'
import {
  parseUuid,
  problemOfConsumeUrl,
  problemOfSecret,
  problemOfUrl,
  problemOfUsername,
} from '@manager/manager/rules'
import type { MachineTarget, Project } from './project.ts'
import type { OldEndpoint } from './rows.ts'

export type Variant = {
  /** The old id of the endpoint that represents all of them. */
  first: string
  texts: string
  clones: number
  isEnabled: boolean
  logLevel: string
  /** The machine users that may call it, and whether their own endpoint was enabled. */
  callers: Map<string, boolean>
  /** The callers whose rows have been planned. */
  granted: Set<string>
  path: string | null
}
/** The variants of each path of each application, and the next number for similar paths. */
export type Variants = { ofPaths: Map<string, Map<string, Variant>>; next: Map<string, number> }

const keyOf = (applicationId: string, path: string | null): string => `${applicationId} ${path}`

/** Returns the texts that people read, for comparison. */
export const textsOf = (row: OldEndpoint): string => JSON.stringify([row.name, row.description])

/**
 * Returns a hash of the behavior of a call, without names, texts and logging. It covers secrets and is never stored.
 */
const behaviorHashOf = (row: OldEndpoint): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        row.url,
        row.auth_type,
        row.auth_username,
        row.auth_password,
        row.auth_token,
        row.input_message_type,
        row.output_message_type,
        row.transformation_template,
      ]),
    )
    .digest('base64')

export async function readVariants(
  project: Project,
  rows: AsyncIterable<OldEndpoint>,
  problemOfTemplate: (text: string) => string | null,
): Promise<Variants> {
  const variants: Variants['ofPaths'] = new Map()
  for await (const row of rows) {
    const applicationId = project.clones.get(row.application_id ?? '')?.applicationId
    if (applicationId === undefined || problemOfEndpoint(row, problemOfTemplate) !== null) continue
    const key = keyOf(applicationId, row.consume_url)
    const ofPath = variants.get(key) ?? new Map<string, Variant>()
    variants.set(key, ofPath)
    const isEnabled = row.enabled === true && !lacksSecret(row)
    const variant = ofPath.get(behaviorHashOf(row)) ?? {
      first: row.id,
      texts: textsOf(row),
      clones: 0,
      isEnabled: false,
      logLevel: row.log_level ?? 'BASIC',
      callers: new Map<string, boolean>(),
      granted: new Set<string>(),
      path: null,
    }
    ofPath.set(behaviorHashOf(row), variant)
    variant.clones++
    variant.isEnabled ||= isEnabled
    variant.logLevel = joinedLevel(variant.logLevel, row.log_level ?? 'BASIC')
    for (const { id, wasDisabled = false } of callersOf(project, row).known)
      variant.callers.set(id, variant.callers.get(id) === true || (isEnabled && !wasDisabled))
  }
  for (const [key, ofPath] of variants) {
    const [most] = [...ofPath.values()].toSorted((a, b) => b.clones - a.clones)
    if (most !== undefined) most.path = key.slice(key.indexOf(' ') + 1)
  }
  return { ofPaths: variants, next: new Map() }
}

/** Bodies are recorded only if all clones recorded them. Calls are recorded if any clone recorded them. */
const joinedLevel = (a: string, b: string): string => (a === b ? a : 'BASIC')

/** Returns the variant of a row, and assigns a separate path if it has none. */
export function variantOf(
  { ofPaths: variants, next }: Variants,
  applicationId: string,
  row: OldEndpoint,
  tenantSlug: string,
): Variant {
  const variant = variants.get(keyOf(applicationId, row.consume_url))?.get(behaviorHashOf(row))
  if (variant === undefined)
    throw new Error(`the endpoint ${row.id} has no variant; this is a bug in the import`)
  const base = keyOf(applicationId, `/${tenantSlug}${row.consume_url}`)
  for (let number = next.get(base) ?? 1; variant.path === null; number++) {
    const path = `/${tenantSlug}${number === 1 ? '' : `-${number}`}${row.consume_url}`
    if (variants.has(keyOf(applicationId, path))) continue
    variants.set(keyOf(applicationId, path), new Map())
    variant.path = path
    next.set(base, number + 1)
  }
  return variant
}

export function callersOf(project: Project, row: OldEndpoint): { known: MachineTarget[]; unknown: number } {
  const callers = row.callers ?? []
  const known = callers.flatMap((id) => project.machineUsers.get(parseUuid(id) ?? id) ?? [])
  return { known, unknown: callers.length - known.length }
}

/** An endpoint without its secret must be disabled, because the gateway would forward its calls anyway. */
export const lacksSecret = (row: OldEndpoint): boolean =>
  (row.auth_type === 'Basic' && row.auth_password === null) ||
  (row.auth_type === 'Bearer' && (row.auth_token ?? '') === '')

const messageTypes = new Set([null, 'SOAP', 'XML', 'JSON'])

/** Why an endpoint cannot be stored, or null. */
export function problemOfEndpoint(
  row: OldEndpoint,
  problemOfTemplate: (text: string) => string | null,
): string | null {
  const { url, auth_username: username, auth_password: password, auth_token: token } = row
  const problem =
    problemOfConsumeUrl(row.consume_url ?? '') ??
    ((url ?? '') === '' ? null : problemOfUrl(url ?? '')) ??
    problemOfUsername(username ?? '') ??
    problemOfSecret(password ?? '', 'authPassword') ??
    problemOfSecret(token ?? '', 'authToken')
  if (problem !== null) return problem
  if (!['None', 'Basic', 'Bearer'].includes(row.auth_type ?? ''))
    return 'authType must be None, Basic or Bearer'
  if (!messageTypes.has(row.input_message_type) || !messageTypes.has(row.output_message_type))
    return 'message types must be SOAP, XML or JSON'
  if (!['NONE', 'BASIC', 'FULL'].includes(row.log_level ?? '')) return 'logLevel must be NONE, BASIC or FULL'
  return problemOfTemplate(row.transformation_template ?? '')
}
