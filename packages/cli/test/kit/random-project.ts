// Creates projects with random objects, and remembers their secrets.
import { type Connection, graphql } from '@manager/client'
import {
  createApplicationDocument,
  createEndpointDocument,
  createLanguagePackDocument,
  createMachineUser2EndpointDocument,
  createMachineUserDocument,
  createProjectDocument,
  createTenant2ApplicationDocument,
  createTenantDocument,
  createTriggerDocument,
  ensureTenant2ApplicationSettingsDocument,
  getSettingsDocument,
  updateBackendModuleConfigDocument,
  updateFrontendModuleConfigDocument,
  updateLanguagePackContentDocument,
} from '@manager/client/documents'
import { type Random, createRandom } from '@manager/harness/random.ts'
import { oddTexts } from './odd-texts.ts'

/** The maximum number of objects of each kind. Machine users, endpoints and triggers are counted for each parent. */
export type Sizes = Readonly<
  Record<'apps' | 'tenants' | 'packs' | 'users' | 'endpoints' | 'triggers' | 'links', number>
>
const smallSizes: Sizes = {
  apps: 3,
  tenants: 3,
  packs: 2,
  users: 3,
  endpoints: 3,
  triggers: 2,
  links: 3,
}
type Layer = { project?: string; tenant?: string; application?: string; tenant2application?: string }

const locales = ['de', 'de-AT', 'en', 'fr-CH', 'pt-BR', 'zh-Hant-TW'] as const
const crons = ['0 3 * * *', '@daily', '*/5 * * * 1-5', 'CRON_TZ=Europe/Vienna 30 6 1 * *'] as const
const templates = [
  '',
  '{{ .Data.id }}',
  '{"a": {{ toJson .Data }}}\n',
  '{{- range .Data.items }}\n  {{ .id }}\n{{ end }}\n\n',
] as const

export class RandomProject {
  readonly secrets: string[] = []
  objectCount = 1
  readonly #connection: Connection
  readonly #random: Random
  readonly #sizes: Sizes
  /** With a fixed size, each list has the maximum number of objects. */
  readonly #hasFixedSize: boolean

  constructor(connection: Connection, seed: number, options: { sizes?: Sizes; hasFixedSize?: boolean } = {}) {
    this.#connection = connection
    this.#random = createRandom(seed)
    this.#sizes = options.sizes ?? smallSizes
    this.#hasFixedSize = options.hasFixedSize ?? false
  }

  async create(slug: string): Promise<void> {
    const { createProject } = await this.#run(createProjectDocument, { input: { slug, name: this.#name() } })
    const project = createProject.id
    await this.#fillSettings({ project })
    const users: string[] = []
    for (const { id } of createProject.environments) users.push(...(await this.#createUsers(id)))
    const applications: string[] = []
    for (const index of this.#indices('apps'))
      applications.push(await this.#createApp(project, `app-${index}`, users))
    for (const index of this.#indices('tenants'))
      await this.#createTenant(project, `tenant-${index}`, applications)
    for (const name of this.#random.some(locales).slice(0, this.#sizes.packs))
      await this.#createPack(project, name)
  }

  async #createUsers(environmentId: string): Promise<string[]> {
    const ids: string[] = []
    for (const index of this.#indices('users')) {
      const isBasic = !this.#hasFixedSize && this.#random.chance(0.15)
      const password = this.#secret()
      const credentials = isBasic
        ? { username: `basic-${this.#random.text(8)}`, hashedKey: password }
        : { hashedKey: '__GENERATE_TOKEN__' }
      const input = { name: this.#name(index), enabled: this.#random.chance(0.7), ...credentials }
      const result = await this.#run(createMachineUserDocument, { environmentId, input })
      const { generatedToken, machineUser } = result.createMachineUserWithCredentials
      this.secrets.push(generatedToken ?? password)
      ids.push(machineUser.id)
    }
    return ids
  }

  async #createApp(projectId: string, slug: string, users: readonly string[]): Promise<string> {
    const input = { slug, name: this.#name(), description: this.#text() }
    const application = (await this.#run(createApplicationDocument, { projectId, input })).createApplication
      .id
    this.objectCount++
    await this.#fillSettings({ application })
    for (const index of this.#indices('endpoints')) await this.#createEndpoint(application, index, users)
    for (const index of this.#indices('triggers')) {
      const trigger = {
        name: this.#name(index),
        description: this.#text(),
        cronExpression: this.#random.pick(crons),
        runKey: this.#text(),
        enabled: this.#random.chance(0.5),
      }
      await this.#run(createTriggerDocument, { applicationId: application, input: trigger })
    }
    return application
  }

  async #createEndpoint(applicationId: string, index: number, users: readonly string[]): Promise<void> {
    const authType = this.#random.pick(['Basic', 'Bearer', 'None'] as const)
    const [authPassword, authToken] = [this.#secret(), this.#secret()]
    if (authType === 'Basic') this.secrets.push(authPassword)
    if (authType === 'Bearer') this.secrets.push(authToken)
    const input = {
      name: this.#name(index),
      description: this.#text(),
      enabled: this.#random.chance(0.5),
      consumeURL: `/path-${index}/${this.#random.pick(['', 'a%20b', '~x:y@z'])}`,
      url: this.#random.pick([null, 'https://partner.example/a?b=c&d=%20']),
      authType,
      ...(authType === 'Basic'
        ? { authUsername: this.#random.pick(['me', '#1', 'null']), authPassword }
        : {}),
      ...(authType === 'Bearer' ? { authToken } : {}),
      inputMessageType: this.#random.pick([null, 'SOAP', 'XML', 'JSON'] as const),
      outputMessageType: this.#random.pick([null, 'SOAP', 'XML', 'JSON'] as const),
      transformationTemplate: this.#random.pick(templates),
      logLevel: this.#random.pick(['NONE', 'BASIC', 'FULL'] as const),
    }
    const endpointID = (await this.#run(createEndpointDocument, { applicationId, input })).createEndpoint.id
    for (const machineUserID of this.#random.some(users).slice(0, this.#sizes.links)) {
      const caller = { endpointID, machineUserID, enabled: this.#random.chance(0.6) }
      await this.#run(createMachineUser2EndpointDocument, { input: caller })
      this.objectCount++
    }
  }

  async #createTenant(projectId: string, slug: string, applications: readonly string[]): Promise<void> {
    const input = {
      slug,
      name: this.#name(),
      deploymentMode: this.#random.pick(['shared', 'dedicated']),
    }
    const tenant = (await this.#run(createTenantDocument, { projectId, input })).createTenant.id
    if (!this.#hasFixedSize) await this.#fillSettings({ tenant })
    for (const applicationId of this.#random.some(applications).slice(0, this.#sizes.links)) {
      const link = { tenantId: tenant, applicationId, enabled: this.#random.chance(0.6) }
      const { id } = (await this.#run(createTenant2ApplicationDocument, { input: link }))
        .createTenant2Application
      this.objectCount++
      if (!this.#random.chance(0.5)) continue
      await this.#run(ensureTenant2ApplicationSettingsDocument, { tenant2ApplicationId: id })
      await this.#fillSettings({ tenant2application: id })
    }
  }

  async #createPack(projectId: string, name: string): Promise<void> {
    const { createLanguagePack } = await this.#run(createLanguagePackDocument, { projectId, input: { name } })
    this.objectCount++
    const content = this.#pairs((key) => key.replaceAll('.', '-').replaceAll('__proto__', 'proto'))
    await this.#run(updateLanguagePackContentDocument, { id: createLanguagePack.id, input: { content } })
  }

  async #fillSettings(layer: Layer): Promise<void> {
    if (this.#random.chance(0.4)) return
    const { settings } = await this.#run(getSettingsDocument, layer)
    const backend = {
      EnabledModules: this.#random.some(['cart', '@acme/menu', '1.10']),
      KeyValuePairs: this.#pairs(),
    }
    await this.#run(updateBackendModuleConfigDocument, { id: settings.backendSetting.id, input: backend })
    const themes = this.#random.some(['light', 'dark', 'no', ' odd '])
    const enabledLocales = this.#random.some(locales)
    const frontend = {
      EnabledThemes: themes,
      DefaultTheme:
        themes.length === 0 ? this.#random.pick(['', 'plain']) : this.#random.pick(['', ...themes]),
      EnabledLocales: enabledLocales,
      DefaultLocale: this.#random.pick(['', ...enabledLocales]),
      KeyValuePairs: this.#pairs(),
    }
    await this.#run(updateFrontendModuleConfigDocument, { id: settings.frontendSetting.id, input: frontend })
  }

  #pairs(toKey: (text: string) => string = (text) => text) {
    const keys = this.#random
      .some(oddTexts, 0.08)
      .map(toKey)
      .filter((key) => key.trim() !== '' && !/^-*$/.test(key))
    return [...new Set(keys)].map((Key) => ({ Key, Value: this.#text() }))
  }

  #indices(kind: keyof Sizes): number[] {
    const count = this.#hasFixedSize ? this.#sizes[kind] : this.#random.int(0, this.#sizes[kind])
    if (kind !== 'apps') this.objectCount += count
    return Array.from({ length: count }, (_, index) => index)
  }

  #text = (): string => this.#random.pick(['', 'plain', ...oddTexts])
  /** A name has visible characters. With an index, it is unique in its list. */
  #name = (index?: number): string => {
    const text = this.#random.pick(oddTexts).slice(0, 90)
    return index === undefined ? text : `${text}${index}`
  }
  #secret = (): string => `s3cret-${this.#random.text(24)}`

  #run = <Result, Variables extends Readonly<Record<string, unknown>>>(
    document: Parameters<typeof graphql<Result, Variables>>[1],
    variables: Variables,
  ): Promise<Result> => graphql(this.#connection, document, variables)
}
