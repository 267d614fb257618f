// Converts the objects of a project to the document that `apply` reads. Lists are sorted, so that equal projects have
// equal documents. Empty lists and settings are included: `apply --prune` then restores the exact state.
import type { Connection } from '@manager/client'
import { type TenantApp, listCallers, listTenantApps } from '../apply/link-rows.ts'
import { createDuplicateFailure } from '../apply/lookups.ts'
import { settingsFields } from '../apply/settings-field.ts'
import { findSettings } from '../apply/settings-steps.ts'
import { Failure } from '../failures.ts'
import type { Pair } from '../field-options.ts'
import type { Row } from '../output.ts'
import { type RequestLimit, createRequestLimit, mapConcurrently } from '../request-limit.ts'
import type { Resource } from '../resource.ts'
import { apps } from '../resources/apps.ts'
import { endpoints } from '../resources/endpoints.ts'
import { environments } from '../resources/environments.ts'
import { languagePacks } from '../resources/language-packs.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { projects } from '../resources/projects.ts'
import { tenants } from '../resources/tenants.ts'
import { triggers } from '../resources/triggers.ts'
import { type ParentRow, listRows } from '../rows.ts'
import { findDefaultsProblem } from '../settings-defaults.ts'
import type { Layer } from '../settings.ts'
import { findSecretReference } from './secret-references.ts'

/** A map of the document. Its keys can have any text, so it is not an object. */
export type DocumentMap = ReadonlyMap<string, unknown>
type Entries = (readonly [string, unknown])[]
type Owner = ParentRow & { path: string }

export class ProjectExporter {
  readonly #connection: Connection
  readonly #signal: AbortSignal
  readonly #limit: RequestLimit = createRequestLimit()
  /** The files that the documents name for secrets. */
  readonly secretFiles: string[] = []
  /** Settings that `apply` rejects, because a default locale or theme is not enabled. */
  readonly problems: string[] = []

  constructor(connection: Connection, signal: AbortSignal) {
    this.#connection = connection
    this.#signal = signal
  }

  async exportProject(row: Row): Promise<DocumentMap> {
    const slug = String(row['slug'])
    const project = { id: String(row['id']), slug, path: slug }
    // The machine users come first, because callers refer to them.
    const machineUserPaths = new Map<string, string>()
    const environmentMaps = await this.#exportRows(environments, project, (environment, owner) =>
      this.#exportEnvironment(environment, owner, machineUserPaths),
    )
    const applications = await this.#exportRows(apps, project, async (app, owner) => [
      ...toEntries(apps, app),
      ['settings', await this.#exportSettings(owner.path, { application: owner.id })],
      [
        'endpoints',
        await this.#exportRows(endpoints, owner, (endpoint, { path }) =>
          this.#exportEndpoint(endpoint, path, machineUserPaths),
        ),
      ],
      ['triggers', await this.#exportRows(triggers, owner, async (trigger) => toEntries(triggers, trigger))],
    ])
    return new Map<string, unknown>([
      ...toEntries(projects, row),
      ['settings', await this.#exportSettings(slug, { project: project.id })],
      ['environments', new Map(environmentMaps.map((map) => [String(map.get('name')), omitName(map)]))],
      ['applications', applications],
      [
        'languagePacks',
        await this.#exportRows(languagePacks, project, async (pack) => toEntries(languagePacks, pack)),
      ],
      [
        'tenants',
        await this.#exportRows(tenants, project, (tenant, owner) => this.#exportTenant(tenant, owner)),
      ],
    ])
  }

  /** Exports all rows of the parent, sorted by key. Throws if two rows have the same key. */
  async #exportRows(
    resource: Resource,
    parent: Owner,
    convert: (row: Row, owner: Owner) => Promise<Entries>,
  ): Promise<DocumentMap[]> {
    const [keyName] = resource.keys
    const options = { isDetailed: true, signal: this.#signal }
    const { rows } = await this.#limit(() => listRows(this.#connection, resource, parent, options))
    const getKey = (row: Row): string => String(row[keyName])
    const sortedRows = rows.toSorted((one, other) => compareTexts(getKey(one), getKey(other)))
    for (const [index, row] of sortedRows.entries()) {
      const next = sortedRows[index + 1]
      if (next !== undefined && getKey(next) === getKey(row))
        throw createDuplicateFailure(
          resource,
          `${parent.path}/${getKey(row)}`,
          rows.filter((one) => getKey(one) === getKey(row)).length,
        )
    }
    const convertRow = async (row: Row): Promise<DocumentMap> => {
      const path = `${parent.path}/${getKey(row)}`
      const entries = await convert(row, { id: String(row['id']), slug: getKey(row), path })
      return new Map([...entries, ...this.#exportSecret(resource, path, row)])
    }
    return mapConcurrently(sortedRows, convertRow)
  }

  #exportSecret(resource: Resource, path: string, row: Row): Entries {
    const reference = findSecretReference(resource, path, row)
    if (reference === null) return []
    this.secretFiles.push(reference.file)
    return [[reference.key, reference.file]]
  }

  async #exportEnvironment(row: Row, owner: Owner, paths: Map<string, string>): Promise<Entries> {
    const users = await this.#exportRows(machineUsers, owner, async (user) => {
      paths.set(String(user['id']), `${owner.slug}/${String(user['name'])}`)
      return toEntries(machineUsers, user)
    })
    return [
      ['name', row['name']],
      ['machineUsers', users],
    ]
  }

  async #exportEndpoint(row: Row, path: string, userPaths: ReadonlyMap<string, string>): Promise<Entries> {
    const id = String(row['id'])
    const callers = await this.#limit(() => listCallers(this.#connection, id, this.#signal))
    const maps = callers.map(({ machineUser, enabled }) => {
      const userPath = userPaths.get(machineUser.id)
      if (userPath === undefined)
        throw new Failure(
          'failed',
          `Endpoint ${path} refers to a machine user that was created during the export. Run the command again.`,
        )
      const map = new Map<string, unknown>([
        ['machineUser', userPath],
        ['enabled', enabled],
      ])
      return { key: userPath, map }
    })
    return [...toEntries(endpoints, row), ['callers', sortMaps(maps)]]
  }

  async #exportTenant(row: Row, { id, path }: Owner): Promise<Entries> {
    const rows = await this.#limit(() => listTenantApps(this.#connection, { tenantId: id }, this.#signal))
    const exportApp = async ({ id: tenant2application, application, enabled }: TenantApp) => {
      const settings = await this.#exportSettings(`${path} - ${application.slug}`, { tenant2application })
      const map = new Map<string, unknown>([
        ['slug', application.slug],
        ['enabled', enabled],
        ['settings', settings],
      ])
      return { key: application.slug, map }
    }
    const maps = await mapConcurrently(rows, exportApp)
    return [
      ...toEntries(tenants, row),
      ['settings', await this.#exportSettings(path, { tenant: id })],
      ['applications', sortMaps(maps)],
    ]
  }

  /** Exports the settings of a layer without empty values. */
  async #exportSettings(path: string, layer: Layer): Promise<DocumentMap> {
    const settings = await this.#limit(() => findSettings(this.#connection, layer, this.#signal))
    if (settings === null) return new Map()
    const frontend = settings.frontendSetting.moduleConfig
    const problem = findDefaultsProblem(frontend, frontend, [])
    if (problem !== null) this.problems.push(`settings ${path}: ${problem}`)
    const sides = { backend: settings.backendSetting.moduleConfig, frontend }
    return new Map(
      (['backend', 'frontend'] as const).flatMap((side) => {
        const config: Row = sides[side]
        const fields = Object.entries(settingsFields[side]).flatMap(([name, [field]]) => {
          const value = field === 'KeyValuePairs' ? toPairMap(config[field]) : config[field]
          return isEmpty(value) ? [] : [[name, value] as const]
        })
        return fields.length === 0 ? [] : [[side, new Map(fields)] as const]
      }),
    )
  }
}

/** Returns the fields of a row that a document declares. */
function toEntries({ keys, fields }: Resource, row: Row): Entries {
  const declaredFields = fields.filter(
    ({ name, kind }) =>
      name !== keys[0] &&
      kind !== 'secret' &&
      // The API derives the user name of a machine user from its token.
      (name !== 'username' || row['tokenPrefix'] === null),
  )
  return [
    [keys[0], row[keys[0]]],
    ...declaredFields.map(({ name, kind, isNullable }) => {
      const value = row[name] ?? (isNullable === true ? null : '')
      return [name, kind === 'pairs' ? toPairMap(value) : value] as const
    }),
  ]
}

const toPairMap = (pairs: unknown): DocumentMap =>
  new Map(
    (pairs as readonly Pair[])
      .map(({ Key, Value }) => [Key, Value] as const)
      .toSorted(([one], [other]) => compareTexts(one, other)),
  )

const isEmpty = (value: unknown): boolean =>
  value === '' || (Array.isArray(value) && value.length === 0) || (value instanceof Map && value.size === 0)

/** Compares by code unit, because the order of a locale differs between systems. */
const compareTexts = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)

const sortMaps = (maps: readonly { key: string; map: DocumentMap }[]): DocumentMap[] =>
  maps.toSorted((one, other) => compareTexts(one.key, other.key)).map(({ map }) => map)

const omitName = (map: DocumentMap): DocumentMap => new Map([...map].filter(([key]) => key !== 'name'))
