// The input file of `apply` declares the desired state. It is validated completely before the first request is sent.
import path from 'node:path'
import { Failure } from '../failures.ts'
import { readNamedFile } from '../private-files.ts'
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
import { type Fields, fieldNames, readFields } from './fields.ts'
import { type Folders, assertWithinFolders } from './named-files.ts'
import { readSettingsOf } from './settings-field.ts'
import { asList, asMap, asText, rejectUnknownKeys } from './shapes.ts'

/** A resource that the file declares. */
export type Node = Fields & {
  resource: Resource
  key: string
  /** The full path, such as shop/acme. */
  path: string
  settings: SettingsChange | null
  children: Node[]
  links: Link[]
  /** Where the token of a new machine user is written. */
  tokenFile: string | null
}
/** A link between two resources: an app enabled for a tenant, or a machine user that may call an endpoint. */
export type Link = {
  kind: 'app' | 'caller'
  path: string
  to: string
  /** Null if the file does not set it: a new link is enabled, an existing link keeps its state. */
  enabled: boolean | null
  settings: SettingsChange | null
}

/** The child lists of each resource, by their key in the file. */
const childLists = new Map<Resource, Readonly<Record<string, Resource>>>([
  [projects, { applications: apps, languagePacks, tenants }],
  [apps, { endpoints, triggers }],
])
const resourcesWithSettings = new Set<Resource>([projects, apps, tenants])

/** Reads the file. Relative file names in it start at its folder, and those files must be inside one of the folders. */
export async function readDocument(file: string, folders: Folders): Promise<Node[]> {
  // Repeated aliases let a small file expand to a huge document.
  const value = parseYaml(await readNamedFile(file), { name: file, maxAliasCount: 100 })
  const root = asMap(value, file)
  rejectUnknownKeys(root, ['projects'], file)
  const folder = path.dirname(file)
  return readNodes(projects, root['projects'], { at: 'projects', path: '', folder, folders })
}

type Position = { at: string; path: string; folder: string; folders: Folders }

async function readNodes(resource: Resource, value: unknown, { at, ...position }: Position): Promise<Node[]> {
  const nodes: Node[] = []
  for (const [index, one] of asList(value ?? [], at).entries())
    nodes.push(await readNode(resource, one, { ...position, at: `${at}[${index}]` }))
  rejectDuplicates(
    nodes.map(({ key }) => key),
    at,
  )
  return nodes
}

async function readNode(resource: Resource, value: unknown, position: Position): Promise<Node> {
  const map = asMap(value, position.at)
  const [keyName] = resource.keys
  rejectUnknownKeys(map, knownKeys(resource), position.at)
  const key = asText(map[keyName], `${position.at}.${keyName}`)
  const below = { ...position, path: position.path === '' ? key : `${position.path}/${key}` }
  const fields = await readFields(resource, map, position)
  if (resource === machineUsers) checkSignIn(fields, position)
  const links = readLinks(resource, map, below)
  rejectDuplicates(
    links.map(({ to }) => to),
    position.at,
  )
  return {
    resource,
    key,
    path: below.path,
    ...fields,
    settings:
      map['settings'] === undefined ? null : readSettingsOf(map['settings'], `${position.at}.settings`),
    children: await readChildren(resource, map, below),
    links,
    tokenFile: map['tokenFile'] === undefined ? null : await readTokenFile(map['tokenFile'], position),
  }
}

async function readTokenFile(value: unknown, { at, folder, folders }: Position): Promise<string> {
  const file = path.resolve(folder, asText(value, `${at}.tokenFile`))
  await assertWithinFolders(folders, file)
  return file
}

/** A machine user signs in with a user name and a password, or with a token that the Manager issues. */
function checkSignIn({ values, secrets }: Fields, { at }: Position): void {
  const [name, password] = [values['username'], secrets['hashedKey']]
  if ((name === undefined) !== (password === undefined))
    throw new Failure(
      'usage',
      `${at}: ${name === undefined ? 'username' : 'passwordFile'} is missing. Basic authentication needs username and passwordFile; omit both to get a token.`,
    )
}

function knownKeys(resource: Resource): string[] {
  const names = [resource.keys[0], ...fieldNames(resource), ...Object.keys(childLists.get(resource) ?? {})]
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
  // Machine users are planned first, because endpoints refer to them.
  if (resource === projects && map['environments'] !== undefined)
    children.push(...(await readEnvironments(map['environments'], position)))
  for (const [name, child] of Object.entries(childLists.get(resource) ?? {}))
    if (map[name] !== undefined)
      children.push(...(await readNodes(child, map[name], { ...position, at: `${position.at}.${name}` })))
  return children
}

async function readEnvironments(value: unknown, { at, ...position }: Position): Promise<Node[]> {
  const nodes: Node[] = []
  for (const [name, one] of Object.entries(asMap(value, `${at}.environments`))) {
    const [here, below] = [`${at}.environments.${name}`, `${position.path}/${name}`]
    if (!/^(dev|qas|run)$/.test(name))
      throw new Failure('usage', `${here}: unknown environment; use dev, qas or run.`)
    const map = asMap(one, here)
    rejectUnknownKeys(map, ['machineUsers'], here)
    const children = await readNodes(machineUsers, map['machineUsers'], {
      ...position,
      path: below,
      at: `${here}.machineUsers`,
    })
    nodes.push({
      resource: environments,
      key: name,
      path: below,
      values: {},
      secrets: {},
      files: new Map(),
      settings: null,
      children,
      links: [],
      tokenFile: null,
    })
  }
  return nodes
}

function readLinks(resource: Resource, map: Record<string, unknown>, { at, path: from }: Position): Link[] {
  const project = from.split('/', 1)[0] ?? ''
  if (resource === endpoints && map['callers'] !== undefined)
    return asList(map['callers'], `${at}.callers`).map((one, index) => {
      const caller = asText(one, `${at}.callers[${index}]`)
      if (!/^(dev|qas|run)\/./.test(caller))
        throw new Failure(
          'usage',
          `${at}.callers[${index}]: write a machine user as environment/name, such as dev/billing.`,
        )
      return { kind: 'caller', path: from, to: `${project}/${caller}`, enabled: null, settings: null }
    })
  if (resource !== tenants || map['applications'] === undefined) return []
  return asList(map['applications'], `${at}.applications`).map((one, index) => {
    const here = `${at}.applications[${index}]`
    const given = typeof one === 'string' ? { slug: one } : asMap(one, here)
    rejectUnknownKeys(given, ['slug', 'enabled', 'settings'], here)
    if (given['enabled'] !== undefined && typeof given['enabled'] !== 'boolean')
      throw new Failure('usage', `${here}.enabled: expected true or false.`)
    return {
      kind: 'app',
      path: from,
      to: `${project}/${asText(given['slug'], `${here}.slug`)}`,
      enabled: given['enabled'] ?? null,
      settings:
        given['settings'] === undefined ? null : readSettingsOf(given['settings'], `${here}.settings`),
    }
  })
}
