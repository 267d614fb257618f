// The file of `apply`: what there shall be. Everything that is wrong with it is found before anything is asked.
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
import { refuseTwice } from '../unique-names.ts'
import { parseYaml } from '../yaml-text.ts'
import { type Fields, fieldNames, readFields } from './fields.ts'
import { type Folders, refuseOutside } from './named-files.ts'
import { readSettingsOf } from './settings-field.ts'
import { asList, asMap, asText, unknownKeys } from './shapes.ts'

/** A thing that shall be there. */
export type Node = Fields & {
  resource: Resource
  key: string
  /** Its name among all, such as shop/acme. */
  path: string
  settings: SettingsChange | null
  children: Node[]
  links: Link[]
  /** Where the token of a new machine user is written. */
  tokenFile: string | null
}
/** Two things that belong together: an app of a tenant, or a machine user that may call an endpoint. */
export type Link = {
  kind: 'app' | 'caller'
  path: string
  to: string
  /** Null where the file does not say: a new one is enabled, one that is there stays as it is. */
  enabled: boolean | null
  settings: SettingsChange | null
}

/** Which lists of things a thing may hold, by their names in the file. */
const lists = new Map<Resource, Readonly<Record<string, Resource>>>([
  [projects, { machineUsers: machineUsers, applications: apps, languagePacks, tenants }],
  [apps, { endpoints, triggers }],
])
const withSettings = new Set<Resource>([projects, apps, tenants])

/** Reads the file; names of other files in it are relative to it, and those files must be in one of the folders. */
export async function readDocument(file: string, folders: Folders): Promise<Node[]> {
  // An alias that is used over and over would make a small file a large one.
  const value = parseYaml(await readNamedFile(file), { name: file, maxAliasCount: 100 })
  const root = asMap(value, file)
  unknownKeys(root, ['projects'], file)
  const folder = path.dirname(file)
  return readNodes(projects, root['projects'], { at: 'projects', path: '', folder, folders })
}

type Place = { at: string; path: string; folder: string; folders: Folders }

async function readNodes(resource: Resource, value: unknown, { at, ...place }: Place): Promise<Node[]> {
  const nodes: Node[] = []
  for (const [index, one] of asList(value ?? [], at).entries())
    nodes.push(await readNode(resource, one, { ...place, at: `${at}[${index}]` }))
  refuseTwice(
    nodes.map(({ key }) => key),
    at,
  )
  return nodes
}

async function readNode(resource: Resource, value: unknown, place: Place): Promise<Node> {
  const map = asMap(value, place.at)
  const [keyName] = resource.keys
  unknownKeys(map, knownKeys(resource), place.at)
  const key = asText(map[keyName], `${place.at}.${keyName}`)
  const below = { ...place, path: place.path === '' ? key : `${place.path}/${key}` }
  const fields = await readFields(resource, map, place)
  if (resource === machineUsers) checkSignIn(fields, place)
  const links = readLinks(resource, map, below)
  refuseTwice(
    links.map(({ to }) => to),
    place.at,
  )
  return {
    resource,
    key,
    path: below.path,
    ...fields,
    settings: map['settings'] === undefined ? null : readSettingsOf(map['settings'], `${place.at}.settings`),
    children: await readChildren(resource, map, below),
    links,
    tokenFile: map['tokenFile'] === undefined ? null : await readTokenFile(map['tokenFile'], place),
  }
}

async function readTokenFile(value: unknown, { at, folder, folders }: Place): Promise<string> {
  const file = path.resolve(folder, asText(value, `${at}.tokenFile`))
  await refuseOutside(folders, file)
  return file
}

/** A machine user signs in with a user name and a password, or with a token that the Manager makes. */
function checkSignIn({ values, secrets }: Fields, { at }: Place): void {
  const [name, password] = [values['username'], secrets['hashedKey']]
  if ((name === undefined) !== (password === undefined))
    throw new Failure(
      'usage',
      `${at}: ${name === undefined ? 'username' : 'passwordFile'} is missing; both are for Basic authentication. Without both it gets a token.`,
    )
}

function knownKeys(resource: Resource): string[] {
  const names = [resource.keys[0], ...fieldNames(resource), ...Object.keys(lists.get(resource) ?? {})]
  if (withSettings.has(resource)) names.push('settings')
  if (resource === projects) names.push('environments')
  if (resource === tenants) names.push('applications')
  if (resource === endpoints) names.push('callers')
  if (resource === machineUsers) names.push('tokenFile')
  return names.filter((name) => resource !== projects || name !== 'machineUsers')
}

async function readChildren(resource: Resource, map: Record<string, unknown>, place: Place): Promise<Node[]> {
  const children: Node[] = []
  // Machine users come first: endpoints name them.
  if (resource === projects && map['environments'] !== undefined)
    children.push(...(await readEnvironments(map['environments'], place)))
  for (const [name, child] of Object.entries(lists.get(resource) ?? {}))
    if (map[name] !== undefined)
      children.push(...(await readNodes(child, map[name], { ...place, at: `${place.at}.${name}` })))
  return children
}

async function readEnvironments(value: unknown, { at, ...place }: Place): Promise<Node[]> {
  const nodes: Node[] = []
  for (const [name, one] of Object.entries(asMap(value, `${at}.environments`))) {
    const [here, below] = [`${at}.environments.${name}`, `${place.path}/${name}`]
    if (!/^(dev|qas|run)$/.test(name))
      throw new Failure('usage', `${here}: the environments of a project are dev, qas and run.`)
    const map = asMap(one, here)
    unknownKeys(map, ['machineUsers'], here)
    const children = await readNodes(machineUsers, map['machineUsers'], {
      ...place,
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

function readLinks(resource: Resource, map: Record<string, unknown>, { at, path: from }: Place): Link[] {
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
    unknownKeys(given, ['slug', 'enabled', 'settings'], here)
    if (given['enabled'] !== undefined && typeof given['enabled'] !== 'boolean')
      throw new Failure('usage', `${here}.enabled: true or false is expected.`)
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
