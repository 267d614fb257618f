// Endpoints of clones that do the same at the same path are one endpoint. Others are variants of it: the one that most clones
// have keeps the path, and nobody is led to another tenant's partner.
import { createHash } from 'node:crypto'
import {
  parseUuid,
  problemOfConsumeUrl,
  problemOfSecret,
  problemOfUrl,
  problemOfUsername,
} from '@manager/manager/rules'
import type { MachinePlace, Project } from './project.ts'
import type { OldEndpoint } from './rows.ts'

export type Variant = {
  /** The old id of the endpoint that stands for all of them. */
  first: string
  texts: string
  clones: number
  isEnabled: boolean
  logLevel: string
  /** Who may call it, and whether their own endpoint was enabled. */
  callers: Map<string, boolean>
  /** Whose rows have been planned. */
  granted: Set<string>
  path: string | null
}
/** The variants of each path of each application, and where to go on counting paths that are alike. */
export type Variants = { ofPaths: Map<string, Map<string, Variant>>; next: Map<string, number> }

const keyOf = (applicationId: string, path: string | null): string => `${applicationId} ${path}`

/** What people read of it. */
export const textsOf = (row: OldEndpoint): string => JSON.stringify([row.name, row.description])

/** What a call does; names, texts and logging apart. It covers secrets, and is never stored. */
const behaviourOf = (row: OldEndpoint): string =>
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
    const variant = ofPath.get(behaviourOf(row)) ?? {
      first: row.id,
      texts: textsOf(row),
      clones: 0,
      isEnabled: false,
      logLevel: row.log_level ?? 'BASIC',
      callers: new Map<string, boolean>(),
      granted: new Set<string>(),
      path: null,
    }
    ofPath.set(behaviourOf(row), variant)
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

/** Bodies are recorded only where all recorded them; calls where any did. */
const joinedLevel = (a: string, b: string): string => (a === b ? a : 'BASIC')

/** The variant of a row, with a path of its own. */
export function variantOf(
  { ofPaths: variants, next }: Variants,
  applicationId: string,
  row: OldEndpoint,
  tenantSlug: string,
): Variant {
  const variant = variants.get(keyOf(applicationId, row.consume_url))?.get(behaviourOf(row))
  if (variant === undefined) throw new Error(`the endpoint ${row.id} was not read before`)
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

export function callersOf(project: Project, row: OldEndpoint): { known: MachinePlace[]; unknown: number } {
  const callers = row.callers ?? []
  const known = callers.flatMap((id) => project.machineUsers.get(parseUuid(id) ?? id) ?? [])
  return { known, unknown: callers.length - known.length }
}

/** A call without the secret that it needs would go out all the same. */
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
    return 'authType is none of None, Basic and Bearer'
  if (!messageTypes.has(row.input_message_type) || !messageTypes.has(row.output_message_type))
    return 'a message type is none of SOAP, XML and JSON'
  if (!['NONE', 'BASIC', 'FULL'].includes(row.log_level ?? ''))
    return 'logLevel is none of NONE, BASIC and FULL'
  return problemOfTemplate(row.transformation_template ?? '')
}
