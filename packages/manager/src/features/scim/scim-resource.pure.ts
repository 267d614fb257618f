// Renders SCIM resources and lists (RFC 7643, section 3; RFC 7644, sections 3.4.2 and 3.9), and their versions.
import { type AttributePath, parseAttributePath, userSchema } from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'
import type { ScimUser } from './scim-user.pure.ts'

/** Values that the Manager sets on every stored resource. */
export type StoredResource = { id: string; createdAt: string; updatedAt: string; revision: number }
/** A stored user. */
export type ScimResource = ScimUser & StoredResource

/** The attributes of a response: all, only the listed ones, or all except the listed ones. */
export type Selection = { kind: 'all' } | { kind: 'only' | 'except'; subs: ReadonlyMap<string, Subs> }
/** The sub-attributes that a selection names, or `all` if it names the whole attribute. */
type Subs = 'all' | Set<string>

const maxSelectionLength = 2_000
const alwaysReturned = new Set(['schemas', 'id'])

/** Parses the query parameters `attributes` and `excludedAttributes`; `attributes` takes precedence. */
export function parseSelection(attributes = '', excludedAttributes = ''): Selection {
  if (attributes !== '') return { kind: 'only', subs: parseNames(attributes, 'attributes') }
  if (excludedAttributes === '') return { kind: 'all' }
  return { kind: 'except', subs: parseNames(excludedAttributes, 'excludedAttributes') }
}

function parseNames(text: string, parameter: string): Map<string, Subs> {
  if (text.length > maxSelectionLength)
    throw scimBadRequest('invalidValue', `${parameter} must have at most ${maxSelectionLength} characters`)
  const subs = new Map<string, Subs>()
  for (const name of text.split(',')) {
    const path = parseAttributePath(name.trim())
    if (path !== null) addPath(subs, path)
  }
  return subs
}

function addPath(subs: Map<string, Subs>, { name, sub }: AttributePath): void {
  const existing = subs.get(name)
  if (sub === null || existing === 'all') subs.set(name, 'all')
  else subs.set(name, (existing ?? new Set<string>()).add(sub))
}

/** Whether a response with this selection contains the attribute, which is given in lower case. */
export const isSelected = (selection: Selection, name: string): boolean =>
  selection.kind === 'all' ||
  (selection.kind === 'only' ? selection.subs.has(name) : selection.subs.get(name) !== 'all')

/** Returns the body of a user. Attributes without a value are left out. */
export function renderUser(user: ScimResource, baseUrl: string, selection: Selection): object {
  const { formatted, familyName, givenName } = user
  const body = {
    schemas: [userSchema],
    id: user.id,
    externalId: user.externalId,
    userName: user.userName,
    name: dropEmpty({ formatted, familyName, givenName }),
    displayName: user.displayName,
    emails: user.emails.map(dropEmpty),
    active: user.active,
    meta: createMeta('User', user, baseUrl),
  }
  return selectAttributes(body, selection)
}

export type ResourceType = 'User' | 'Group'

/** Returns `meta` of a resource. */
export const createMeta = (resourceType: ResourceType, resource: StoredResource, baseUrl: string) => ({
  resourceType,
  created: resource.createdAt,
  lastModified: resource.updatedAt,
  location: formatLocation(resourceType, resource.id, baseUrl),
  version: formatVersion(resource.revision),
})

/** Returns the selected attributes that have a value. */
export const selectAttributes = (body: object, selection: Selection): object =>
  dropEmpty(dropUnselected(dropEmpty(body), selection))

/** Drops members that have no value: null, an empty list or an empty object. */
const dropEmpty = (object: object): object =>
  Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) =>
        value !== null && !(typeof value === 'object' && Object.keys(value as object).length === 0),
    ),
  )

function dropUnselected(body: object, selection: Selection): object {
  if (selection.kind === 'all') return body
  const isOnly = selection.kind === 'only'
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
      const subs = selection.subs.get(name.toLowerCase())
      if (alwaysReturned.has(name)) return [[name, value]]
      if (subs === undefined) return isOnly ? [] : [[name, value]]
      if (subs === 'all') return isOnly ? [[name, value]] : []
      return [[name, selectSubs(value, (sub) => subs.has(sub.toLowerCase()) === isOnly)]]
    }),
  )
}

function selectSubs(value: unknown, hasSub: (sub: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => selectSubs(one, hasSub))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).filter(([sub]) => hasSub(sub)))
}

/** Returns the address of a resource. */
export const formatLocation = (type: ResourceType, id: string, baseUrl: string): string =>
  `${baseUrl}/${type}s/${id}`

/** Returns the version of a resource, which is also its ETag. */
export const formatVersion = (revision: number): string => `W/"${revision}"`

/** Whether an If-Match or If-None-Match header names the version: `*`, or a list of versions, weak or strong. */
export function matchesVersion(header: string, revision: number): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === `"${revision}"`)
}

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

/** Returns the body of a list. */
export const renderList = (resources: readonly object[], startIndex: number, totalResults: number) => ({
  schemas: [listSchema],
  totalResults,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
})

/** The page of a list: the position of its first row, which starts at 1, and the number of rows. */
export type ListPage = { startIndex: number; count: number }

export const pageLimits = { defaultCount: 100, maxCount: 200 } as const
const maxStartIndex = 2 ** 31 - 1

/** Reads `startIndex` and `count`. Values out of range become the nearest value (RFC 7644, section 3.4.2.4). */
export const readPage = (startIndex: string | undefined, count: string | undefined): ListPage => ({
  startIndex: readNumber(startIndex, 'startIndex', { min: 1, max: maxStartIndex, fallback: 1 }),
  count: readNumber(count, 'count', { min: 0, max: pageLimits.maxCount, fallback: pageLimits.defaultCount }),
})

function readNumber(
  text: string | undefined,
  parameter: string,
  { min, max, fallback }: { min: number; max: number; fallback: number },
): number {
  if (text === undefined || text === '') return fallback
  if (!/^[+-]?\d{1,15}$/.test(text))
    throw scimBadRequest('invalidValue', `${parameter} must be a whole number`)
  return Math.min(max, Math.max(min, Number(text)))
}
