// Reads the input file of `apply`, which declares the desired state. The whole file is validated before the
// first request is sent.
import path from 'node:path'
import { Failure } from '../failures.ts'
import type { Resource } from '../resource.ts'
import { apps } from '../resources/apps.ts'
import { endpoints } from '../resources/endpoints.ts'
import { environments } from '../resources/environments.ts'
import { languagePacks } from '../resources/language-packs.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { projects } from '../resources/projects.ts'
import { tenants } from '../resources/tenants.ts'
import { triggers } from '../resources/triggers.ts'
import type { SettingsChange } from '../settings.ts'
import { rejectDuplicates } from '../unique-names.ts'
import { parseYaml } from '../yaml-text.ts'
import { type Fields, listFieldKeys, readFields } from './fields.ts'
import { type Folders, assertWithinFolders } from './named-files.ts'
import { readLayerSettings } from './settings-field.ts'
import { asBoolean, asList, asMap, asText, rejectUnknownKeys } from './shapes.ts'
import type { Source } from './source.ts'

/** A resource that the file declares. */
export type Node = Fields & {
  resource: Resource
  key: string
  /** The full path, such as shop/acme. */
  path: string
  settings: SettingsChange | null
  children: Node[]
  /** The kinds of children that the file lists. `--prune` deletes other children of these kinds. */
  listed: Resource[]
  links: Link[]
  /** Whether the file lists the links. `--prune` deletes other links. */
  hasLinkList: boolean
  /** The file to which the token of a new machine user is written. */
  tokenFile: string | null
}
/** A link between two resources: an app enabled for a tenant, or a machine user that may call an endpoint. */
export type Link = {
  kind: 'app' | 'caller'
  path: string
  to: string
  /** Null if the file does not set it. A new link is then enabled, and an existing link keeps its state. */
  enabled: boolean | null
  settings: SettingsChange | null
}

/** The lists of child resources, by their key in the file. */
const childLists = new Map<Resource, Readonly<Record<string, Resource>>>([
  [projects, { applications: apps, languagePacks, tenants }],
  [apps, { endpoints, triggers }],
])
const resourcesWithSettings = new Set<Resource>([projects, apps, tenants])

/** Reads a document. The files that it names are resolved against its folder and must be in one of `folders`. */
export async function readDocument({ name, text, folder }: Source, folders: Folders): Promise<Node[]> {
  // Limit aliases: with repeated aliases, a small file can expand to a huge document.
  const root = asMap(parseYaml(text, { name, maxAliasCount: 100 }), name)
  rejectUnknownKeys(root, ['projects'], name)
  return readNodes(projects, root['projects'], { at: 'projects', path: '', folder, folders })
}

type Position = { at: string; path: string; folder: string; folders: Folders }

async function readNodes(resource: Resource, value: unknown, { at, ...position }: Position): Promise<Node[]> {
  const nodes: Node[] = []
  for (const [index, item] of asList(value ?? [], at).entries())
    nodes.push(await readNode(resource, item, { ...position, at: `${at}[${index}]` }))
  rejectDuplicates(
    nodes.map(({ key }) => key),
    at,
  )
  return nodes
}

async function readNode(resource: Resource, value: unknown, position: Position): Promise<Node> {
  const map = asMap(value, position.at)
  const [keyName] = resource.keys
  rejectUnknownKeys(map, listKnownKeys(resource), position.at)
  const key = asText(map[keyName], `${position.at}.${keyName}`)
  const childPosition = { ...position, path: position.path === '' ? key : `${position.path}/${key}` }
  const fields = await readFields(resource, map, position)
  if (resource === machineUsers) checkCredentials(fields, position)
  const links = readLinks(resource, map, childPosition)
  rejectDuplicates(
    links.map(({ to }) => to),
    position.at,
  )
  return {
    resource,
    key,
    path: childPosition.path,
    ...fields,
    settings:
      map['settings'] === undefined ? null : readLayerSettings(map['settings'], `${position.at}.settings`),
    children: await readChildren(resource, map, childPosition),
    // An empty value such as `tenants:` does not count as a list, because a truncated file can end there.
    listed: Object.entries(childLists.get(resource) ?? {}).flatMap(([name, child]) =>
      Array.isArray(map[name]) ? [child] : [],
    ),
    links,
    hasLinkList: links.length > 0 || hasEmptyLinkList(resource, map),
    tokenFile: map['tokenFile'] === undefined ? null : await readTokenFile(map['tokenFile'], position),
  }
}

async function readTokenFile(value: unknown, { at, folder, folders }: Position): Promise<string> {
  const file = path.resolve(folder, asText(value, `${at}.tokenFile`))
  await assertWithinFolders(folders, file)
  return file
}

/**
 * Checks that a machine user has both a user name and a password, or neither. Without them, the Manager
 * issues a token.
 */
function checkCredentials({ values, secrets }: Fields, { at }: Position): void {
  const [name, password] = [values['username'], secrets['hashedKey']]
  if ((name === undefined) !== (password === undefined))
    throw new Failure(
      'usage',
      `${at}: ${name === undefined ? 'username' : 'passwordFile'} is missing. Basic authentication needs username and passwordFile; omit both to get a token.`,
    )
}

function listKnownKeys(resource: Resource): string[] {
  const names = [resource.keys[0], ...listFieldKeys(resource), ...Object.keys(childLists.get(resource) ?? {})]
  if (resourcesWithSettings.has(resource)) names.push('settings')
  if (resource === projects) names.push('environments')
  if (resource === tenants) names.push('applications')
  if (resource === endpoints) names.push('callers')
  if (resource === machineUsers) names.push('tokenFile')
  return names
}

async function readChildren(
  resource: Resource,
  map: Record<string, unknown>,
  position: Position,
): Promise<Node[]> {
  const children: Node[] = []
  // Environments come first: their machine users must be planned before the endpoints that refer to them.
  if (resource === projects && map['environments'] !== undefined)
    children.push(...(await readEnvironments(map['environments'], position)))
  for (const [name, child] of Object.entries(childLists.get(resource) ?? {}))
    if (map[name] !== undefined)
      children.push(...(await readNodes(child, map[name], { ...position, at: `${position.at}.${name}` })))
  return children
}

async function readEnvironments(value: unknown, { at, ...position }: Position): Promise<Node[]> {
  const nodes: Node[] = []
  for (const [name, item] of Object.entries(asMap(value, `${at}.environments`))) {
    const [location, childPath] = [`${at}.environments.${name}`, `${position.path}/${name}`]
    if (!/^(dev|qas|run)$/.test(name))
      throw new Failure('usage', `${location}: unknown environment; use dev, qas or run.`)
    const map = asMap(item, location)
    rejectUnknownKeys(map, ['machineUsers'], location)
    const children = await readNodes(machineUsers, map['machineUsers'], {
      ...position,
      path: childPath,
      at: `${location}.machineUsers`,
    })
    nodes.push({
      resource: environments,
      key: name,
      path: childPath,
      values: {},
      secrets: {},
      files: new Map(),
      settings: null,
      children,
      listed: Array.isArray(map['machineUsers']) ? [machineUsers] : [],
      links: [],
      hasLinkList: false,
      tokenFile: null,
    })
  }
  return nodes
}

function readLinks(resource: Resource, map: Record<string, unknown>, { at, path: from }: Position): Link[] {
  if (resource === endpoints && map['callers'] !== undefined)
    return asList(map['callers'], `${at}.callers`).map((item, index) =>
      readCaller(item, `${at}.callers[${index}]`, from),
    )
  if (resource !== tenants || map['applications'] === undefined) return []
  return asList(map['applications'], `${at}.applications`).map((item, index) =>
    readTenantApp(item, `${at}.applications[${index}]`, from),
  )
}

const hasEmptyLinkList = (resource: Resource, map: Record<string, unknown>): boolean =>
  (resource === endpoints && Array.isArray(map['callers'])) ||
  (resource === tenants && Array.isArray(map['applications']))

const getProjectSlug = (nodePath: string): string => nodePath.split('/', 1)[0] ?? ''

function readCaller(item: unknown, at: string, from: string): Link {
  const entry = typeof item === 'object' ? asMap(item, at) : { machineUser: item }
  rejectUnknownKeys(entry, ['machineUser', 'enabled'], at)
  const caller = asText(entry['machineUser'], typeof item === 'object' ? `${at}.machineUser` : at)
  if (!/^(dev|qas|run)\/./s.test(caller))
    throw new Failure('usage', `${at}: write a machine user as environment/name, such as dev/billing.`)
  return {
    kind: 'caller',
    path: from,
    to: `${getProjectSlug(from)}/${caller}`,
    enabled: readEnabled(entry, at),
    settings: null,
  }
}

function readTenantApp(item: unknown, at: string, from: string): Link {
  const entry = typeof item === 'string' ? { slug: item } : asMap(item, at)
  rejectUnknownKeys(entry, ['slug', 'enabled', 'settings'], at)
  return {
    kind: 'app',
    path: from,
    to: `${getProjectSlug(from)}/${asText(entry['slug'], `${at}.slug`)}`,
    enabled: readEnabled(entry, at),
    settings: entry['settings'] === undefined ? null : readLayerSettings(entry['settings'], `${at}.settings`),
  }
}

const readEnabled = (entry: Record<string, unknown>, at: string): boolean | null =>
  entry['enabled'] === undefined ? null : asBoolean(entry['enabled'], `${at}.enabled`)
