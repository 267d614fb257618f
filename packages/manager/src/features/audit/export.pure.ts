// Parses the export query and encodes the position at which the next page starts.
import { badRequest } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { readTimeWindow } from '../../platform/inputs/time-window.ts'

export type ExportQuery = {
  from?: string
  to?: string
  project_id?: string
  entity_type?: string
  entity_id?: string
  action?: string
  user_id?: string
  limit?: string
  cursor?: string
}
/** Filters that the query does not contain are null. */
export type ExportFilters = {
  from: string | null
  to: string | null
  projectId: string | null
  entityType: string | null
  entityId: string | null
  action: string | null
  userId: string | null
}
/** Position of the last exported row. Rows of the system chain after `systemSeq` are excluded. */
export type Position = { chainId: string; seq: number; systemSeq: number }
export type ExportRequest = { filters: ExportFilters; limit: number | null; after: Position | null }

const maxLimit = 10_000

/** Parses the query string. Throws a 400 error that names the invalid parameters. */
export function parseExportQuery(query: ExportQuery): ExportRequest {
  const { '': window, ...checked } = checkFields({
    '': () => readTimeWindow(query),
    project_id: () => readId('project_id', query.project_id),
    user_id: () => readId('user_id', query.user_id),
    limit: () => readLimit(query.limit),
    cursor: () => (query.cursor === undefined ? null : decodePosition(query.cursor)),
  })
  return {
    filters: {
      ...window,
      projectId: checked.project_id,
      entityType: query.entity_type ?? null,
      entityId: query.entity_id ?? null,
      action: query.action ?? null,
      userId: checked.user_id,
    },
    limit: checked.limit,
    after: checked.cursor,
  }
}

/** Returns the filters that are set, keyed by their query parameter names. */
export const getNamedFilters = (filters: ExportFilters): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      from: filters.from,
      to: filters.to,
      project_id: filters.projectId,
      entity_type: filters.entityType,
      entity_id: filters.entityId,
      action: filters.action,
      user_id: filters.userId,
    }).filter((pair): pair is [string, string] => pair[1] !== null),
  )

function readId(name: string, text: string | undefined): string | null {
  if (text === undefined) return null
  const id = parseUuid(text)
  if (id === null) throw badRequest(`${name} must be a UUID`)
  return id
}

function readLimit(text: string | undefined): number | null {
  if (text === undefined) return null
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxLimit)
    throw badRequest('limit must be a whole number from 1 to 10000; omit it to export everything')
  return limit
}

export const encodePosition = ({ chainId, seq, systemSeq }: Position): string =>
  Buffer.from(`${chainId}:${seq}:${systemSeq}`).toString('base64url')

function decodePosition(cursor: string): Position {
  const text = Buffer.from(cursor.slice(0, 200), 'base64url').toString('latin1')
  const [, id, seq, systemSeq] = /^(.{36}):(\d{1,15}):(\d{1,15})$/.exec(text) ?? []
  const chainId = parseUuid(id)
  if (chainId === null) throw badRequest('cursor is invalid; send next_cursor of the previous page')
  return { chainId, seq: Number(seq), systemSeq: Number(systemSeq) }
}
