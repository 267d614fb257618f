// The content of an audit entry: its changes, and a sentence about its object. The API stores ids, so the sentence has
// placeholders for the names of the objects.
import type { AuditEntriesResult } from '../../generated/documents.ts'
import type { TextKey } from '../../texts/texts.ts'

export type Entry = AuditEntriesResult['auditLogsConnection']['nodes'][number]

/** The kinds of objects in the trail of a project. */
export const entityTypes = [
  'project',
  'user2project',
  'tenant',
  'user2tenant',
  'tenantRoleDefinition',
  'groupRule',
  'application',
  'user2application',
  'tenant2Application',
  'invitation',
  'settings',
  'languagePack',
  'machineUser',
  'endpoint',
  'machineUser2Endpoint',
  'trigger',
  'trigger_run',
  'backendRegistration',
  'deploymentSpecification',
  'piletPackage',
] as const
type EntityType = (typeof entityTypes)[number]

/** The actions in the trail of a project. */
export const actions = [
  'create',
  'update',
  'delete',
  'grant',
  'revoke',
  'rotate',
  'wake',
  'run',
  'retry',
  'test',
  'accept',
] as const
export type Action = (typeof actions)[number]

const isEntityType = (text: string): text is EntityType => entityTypes.some((type) => type === text)
export const isAction = (text: string): text is Action => actions.some((action) => action === text)

export type Change = { readonly field: string; readonly before: unknown; readonly after: unknown }

export const readChanges = (entry: Pick<Entry, 'changes'>): readonly Change[] =>
  Object.entries(JSON.parse(entry.changes) as Record<string, Omit<Change, 'field'>>).map(
    ([field, { before, after }]) => ({ field, before, after }),
  )

/** Returns the changes as an object in which `before` precedes `after` in each change. */
export const toChangeObject = (entry: Pick<Entry, 'changes'>): Record<string, Omit<Change, 'field'>> =>
  Object.fromEntries(readChanges(entry).map(({ field, before, after }) => [field, { before, after }]))

export type Metadata = Readonly<Record<string, unknown>>
export const readMetadata = (entry: Pick<Entry, 'metadata'>): Metadata =>
  JSON.parse(entry.metadata) as Metadata

/** Returns a recorded value as text; null if there was none. */
export function formatValue(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
  return JSON.stringify(value)
}

/**
 * A part of a sentence: a word of the language, a name, or the id of an object. If the name cannot be read, because the
 * object was deleted or is not visible to the caller, the sentence contains the text.
 */
export type Part =
  { readonly word: TextKey } | { readonly text: string } | { readonly id: string; readonly text?: string }

const pastTense =
  / (?:created|updated|deleted|granted|revoked|rotated|woken|run|retried|tested|accepted)(?: on request)?$/

/** Returns the name between the kind and the verb of a description such as `tenant acme created`. */
function readName({ entityType, description }: Entry): string | null {
  const start = `${entityType} `
  if (!description.startsWith(start) || !pastTense.test(description)) return null
  return description.slice(start.length).replace(pastTense, '')
}

const asId = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Returns an id from the changes, such as the tenant of a membership. Entries for updates do not contain the id. */
function findId(entry: Entry, field: string): string | null {
  const change = readChanges(entry).find((one) => one.field === field)
  return asId(change?.after) ?? asId(change?.before)
}

/** Returns the ids of the objects to which the object of an entry belongs. */
export function findOwners(entry: Entry): {
  tenant: string | null
  application: string | null
  user: string | null
} {
  const { tenantId, applicationId } = readMetadata(entry)
  const [, user = null] = / of user (\S+)$/.exec(readName(entry) ?? '') ?? []
  return {
    tenant: asId(tenantId) ?? findId(entry, 'tenantId'),
    application: asId(applicationId) ?? findId(entry, 'applicationId'),
    user: findId(entry, 'userId') ?? user,
  }
}

const inTenant = (tenant: string | null): readonly Part[] =>
  tenant === null ? [] : [{ word: 'audit.inTenant' }, { id: tenant }]

function describeSettings(entry: Entry): readonly Part[] {
  const { tenant, application } = findOwners(entry)
  if (tenant !== null && application !== null)
    return [{ word: 'audit.settingsOf.pair' }, { id: application }, ...inTenant(tenant)]
  if (tenant !== null) return [{ word: 'audit.settingsOf.tenant' }, { id: tenant }]
  if (application !== null) return [{ word: 'audit.settingsOf.application' }, { id: application }]
  return [{ word: 'audit.settingsOf.project' }]
}

function describePair(entry: Entry): readonly Part[] {
  const { tenant, application } = findOwners(entry)
  return application === null || tenant === null
    ? [{ word: 'audit.kind.tenant2Application' }, { id: entry.entityID }]
    : [{ word: 'audit.kind.application' }, { id: application }, ...inTenant(tenant)]
}

function describeEndpointAccess(entry: Entry): readonly Part[] {
  const [machineUser, endpoint] = [findId(entry, 'machineUserId'), findId(entry, 'endpointId')]
  return machineUser === null || endpoint === null
    ? [{ word: 'audit.kind.machineUser2Endpoint' }, { id: entry.entityID }]
    : [{ word: 'audit.accessOf' }, { id: machineUser }, { word: 'audit.toEndpoint' }, { id: endpoint }]
}

function describeRole(entry: Entry): readonly Part[] | null {
  const [, role = '', user = ''] = /^(.*) of user (\S+)$/s.exec(readName(entry) ?? '') ?? []
  if (user === '') return null
  const { tenant } = findOwners(entry)
  const kind = `audit.kind.${entry.entityType as EntityType}` as const
  return [{ word: kind }, { text: role }, { word: 'audit.of' }, { id: user }, ...inTenant(tenant)]
}

/** The descriptions of these kinds contain a slug, but people know the name. */
const kindsWithSlug: ReadonlySet<EntityType> = new Set(['project', 'tenant', 'application'])

function describeNamed(entry: Entry, type: EntityType): readonly Part[] | null {
  const text = readName(entry)
  if (text === null) return null
  const word = entry.action === 'rotate' ? 'audit.tokenOf' : (`audit.kind.${type}` as const)
  return [{ word }, kindsWithSlug.has(type) ? { id: entry.entityID, text } : { text }]
}

/** Objects whose descriptions contain ids instead of a name. */
const describers: { readonly [Type in EntityType]?: (entry: Entry) => readonly Part[] | null } = {
  settings: describeSettings,
  tenant2Application: describePair,
  machineUser2Endpoint: describeEndpointAccess,
  user2project: describeRole,
  user2tenant: describeRole,
  user2application: describeRole,
}

/** Returns the part of the sentence that names the object; null if the kind is unknown. */
export function describeObject(entry: Entry): readonly Part[] | null {
  const { entityType } = entry
  if (!isEntityType(entityType)) return null
  return describers[entityType]?.(entry) ?? describeNamed(entry, entityType)
}

/** A change of only `enabled` has a clearer verb than "changed". */
function describeAction(entry: Entry): Part {
  const [first, ...others] = readChanges(entry)
  if (entry.action === 'update' && first?.field === 'enabled' && others.length === 0)
    return { word: first.after === true ? 'audit.done.enable' : 'audit.done.disable' }
  return isAction(entry.action) ? { word: `audit.done.${entry.action}` } : { text: entry.action }
}

/** Returns the sentence, or the text of the API if the kind is unknown. */
export function describeEntry(entry: Entry): readonly Part[] {
  const object = describeObject(entry)
  return object === null ? [{ text: entry.description }] : [...object, describeAction(entry)]
}

/** Returns the ids in a sentence, so that the names of the objects can be read. */
export const listIds = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap((part) => ('id' in part ? [part.id] : []))
