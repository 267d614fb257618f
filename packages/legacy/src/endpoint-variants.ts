// Endpoints of clones that have the same path and behavior become one endpoint. Endpoints with the same path but
// different behavior become variants. The variant that most clones use keeps the path. No caller is routed to another
// tenant's partner.
import { createHash } from 'node:crypto'
import {
  parseUuid,
  findConsumeUrlProblem,
  findSecretProblem,
  findUrlProblem,
  findUsernameProblem,
} from '@manager/manager/rules'
import type { MachineTarget, Project } from './project.ts'
import type { OldEndpoint } from './rows.ts'

export type Variant = {
  /** The old id of the endpoint that represents all endpoints of the variant. */
  firstId: string
  texts: string
  clones: number
  isEnabled: boolean
  logLevel: string
  /** The ids of the machine users that may call the variant, and whether their own endpoint was enabled. */
  callers: Map<string, boolean>
  /** The callers whose rows have already been planned. */
  grantedIds: Set<string>
  path: string | null
}
/** The variants for each path of each application, and the next suffix for similar paths. */
export type Variants = { byPath: Map<string, Map<string, Variant>>; next: Map<string, number> }

const formatKey = (applicationId: string, path: string | null): string => `${applicationId} ${path}`

/** Returns the name and the description as one string, for comparison. */
export const formatTexts = (row: OldEndpoint): string => JSON.stringify([row.name, row.description])

/**
 * Returns a hash of everything that affects a call. Names, descriptions and logging are not included. The
 * hash covers secrets, so it is never stored.
 */
const hashBehavior = (row: OldEndpoint): string =>
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
  findTemplateProblem: (text: string) => string | null,
): Promise<Variants> {
  const variants: Variants['byPath'] = new Map()
  for await (const row of rows) {
    const applicationId = project.clones.get(row.application_id ?? '')?.applicationId
    if (applicationId === undefined || findEndpointProblem(row, findTemplateProblem) !== null) continue
    const key = formatKey(applicationId, row.consume_url)
    const variantsByHash = variants.get(key) ?? new Map<string, Variant>()
    variants.set(key, variantsByHash)
    const isEnabled = row.enabled === true && !lacksSecret(row)
    const variant = variantsByHash.get(hashBehavior(row)) ?? {
      firstId: row.id,
      texts: formatTexts(row),
      clones: 0,
      isEnabled: false,
      logLevel: row.log_level ?? 'BASIC',
      callers: new Map<string, boolean>(),
      grantedIds: new Set<string>(),
      path: null,
    }
    variantsByHash.set(hashBehavior(row), variant)
    variant.clones++
    variant.isEnabled ||= isEnabled
    variant.logLevel = mergeLogLevels(variant.logLevel, row.log_level ?? 'BASIC')
    for (const { id, wasDisabled = false } of findCallers(project, row).knownCallers)
      variant.callers.set(id, variant.callers.get(id) === true || (isEnabled && !wasDisabled))
  }
  for (const [key, variantsByHash] of variants) {
    const [mostCommon] = [...variantsByHash.values()].toSorted((a, b) => b.clones - a.clones)
    if (mostCommon !== undefined) mostCommon.path = key.slice(key.indexOf(' ') + 1)
  }
  return { byPath: variants, next: new Map() }
}

/**
 * Merges two log levels. Bodies are recorded only if all clones recorded them, and calls if any clone recorded them.
 */
const mergeLogLevels = (a: string, b: string): string => (a === b ? a : 'BASIC')

/** Returns the variant of a row. Assigns a separate path if the variant has none. */
export function findVariant(
  { byPath: variants, next }: Variants,
  applicationId: string,
  row: OldEndpoint,
  tenantSlug: string,
): Variant {
  const variant = variants.get(formatKey(applicationId, row.consume_url))?.get(hashBehavior(row))
  if (variant === undefined)
    throw new Error(`the endpoint ${row.id} has no variant; this is a bug in the import`)
  const base = formatKey(applicationId, `/${tenantSlug}${row.consume_url}`)
  for (let number = next.get(base) ?? 1; variant.path === null; number++) {
    const path = `/${tenantSlug}${number === 1 ? '' : `-${number}`}${row.consume_url}`
    if (variants.has(formatKey(applicationId, path))) continue
    variants.set(formatKey(applicationId, path), new Map())
    variant.path = path
    next.set(base, number + 1)
  }
  return variant
}

export function findCallers(
  project: Project,
  row: OldEndpoint,
): { knownCallers: MachineTarget[]; unknownCount: number } {
  const callers = row.callers ?? []
  const knownCallers = callers.flatMap((id) => project.machineUsers.get(parseUuid(id) ?? id) ?? [])
  return { knownCallers, unknownCount: callers.length - knownCallers.length }
}

/** An endpoint without its secret must be disabled, because the gateway would forward its calls anyway. */
export const lacksSecret = (row: OldEndpoint): boolean =>
  (row.auth_type === 'Basic' && row.auth_password === null) ||
  (row.auth_type === 'Bearer' && (row.auth_token ?? '') === '')

const messageTypes = new Set([null, 'SOAP', 'XML', 'JSON'])

/** Returns the reason why an endpoint cannot be stored, or null. */
export function findEndpointProblem(
  row: OldEndpoint,
  findTemplateProblem: (text: string) => string | null,
): string | null {
  const { url, auth_username: username, auth_password: password, auth_token: token } = row
  const problem =
    findConsumeUrlProblem(row.consume_url ?? '') ??
    ((url ?? '') === '' ? null : findUrlProblem(url ?? '')) ??
    findUsernameProblem(username ?? '') ??
    findSecretProblem(password ?? '', 'authPassword') ??
    findSecretProblem(token ?? '', 'authToken')
  if (problem !== null) return problem
  if (!['None', 'Basic', 'Bearer'].includes(row.auth_type ?? ''))
    return 'authType must be None, Basic or Bearer'
  if (!messageTypes.has(row.input_message_type) || !messageTypes.has(row.output_message_type))
    return 'message types must be SOAP, XML or JSON'
  if (!['NONE', 'BASIC', 'FULL'].includes(row.log_level ?? '')) return 'logLevel must be NONE, BASIC or FULL'
  return findTemplateProblem(row.transformation_template ?? '')
}
