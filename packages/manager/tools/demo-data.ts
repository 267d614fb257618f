// Creates the data for `npm run demo` through the public API. A second run does not overwrite changes that
// people have made.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Connection, graphql, publishPilet } from '@manager/client'
import * as documents from '@manager/client/documents'

export type Person = { key: string; subject: string; name: string; email: string; tenant: string }

export const anna: Person = {
  key: 'anna',
  subject: 'a11a0000-0000-4000-8000-000000000001',
  name: 'Anna',
  email: 'anna@acme.example',
  tenant: 'acme',
}
export const ben: Person = {
  key: 'ben',
  subject: 'be000000-0000-4000-8000-000000000002',
  name: 'Ben',
  email: 'ben@birch.example',
  tenant: 'birch',
}
export const people: readonly Person[] = [anna, ben]
/** The person who creates the data. The sign-in page does not offer this person. */
export const operator: Person = {
  key: 'operator',
  subject: '0e000000-0000-4000-8000-000000000000',
  name: 'Demo',
  email: 'operator@demo.example',
  tenant: '',
}

/** Returns the headers in which a proxy forwards the identity of a signed-in person. */
export const createIdentityHeaders = ({ subject, email, name }: Person): Record<string, string> => ({
  'x-token-subject': subject,
  'x-token-user-email': email,
  'x-token-user-name': name,
})

type NamedEntity = { readonly id: string; readonly name: string }
export type DemoShop = {
  project: NamedEntity
  application: NamedEntity
  /** Maps slugs to tenants. */
  tenants: Readonly<Record<string, NamedEntity>>
}
/** Returns a connection that is authenticated as a person, like a request through the proxy. */
export type ConnectAs = (person: Person) => Connection

const tenantNames: Record<string, string> = { acme: 'Acme', birch: 'Birch' }
const shell = new URL('../../../examples/shell/', import.meta.url)
const readTexts = (locale: string) =>
  JSON.parse(readFileSync(new URL(`texts/${locale}.json`, shell), 'utf8')) as Record<string, string>
/** Maps locales to language packs. */
const packs = { en: readTexts('en'), de: readTexts('de') }
const piletFile = new URL('stock-pilet.mjs', shell)
const piletName = '@demo/stock'

/**
 * Creates missing data: a project with an application for two tenants, settings, translations, a pilet and
 * members.
 */
export async function ensureShop(admin: Connection, as: ConnectAs): Promise<DemoShop> {
  const project = await ensureProject(admin)
  const application = await ensureApplication(admin, project.id)
  const tenants = await ensureTenants(admin, project.id, application.id)
  const shop = { project, application, tenants }
  await ensureSettings(admin, shop)
  await ensureLanguagePacks(admin, project.id)
  await ensurePilet(admin, project.id)
  for (const person of people) await ensureMember(admin, as(person), person, shop)
  return shop
}

async function ensureProject(admin: Connection): Promise<NamedEntity> {
  const { projects } = await graphql(admin, documents.listProjectsDocument, {})
  const existingProject = projects.find(({ slug }) => slug === 'demo')
  if (existingProject !== undefined) return existingProject
  const input = { name: 'Demo', slug: 'demo' }
  return (await graphql(admin, documents.createProjectDocument, { input })).createProject
}

async function ensureApplication(admin: Connection, projectId: string): Promise<NamedEntity> {
  const { applications } = await graphql(admin, documents.listApplicationsDocument, { projectSlug: 'demo' })
  const existingApplication = applications.find(({ slug }) => slug === 'store')
  if (existingApplication !== undefined) return existingApplication
  const input = { name: 'Store', slug: 'store', description: 'The demo application' }
  return (await graphql(admin, documents.createApplicationDocument, { projectId, input })).createApplication
}

/** Returns the tenants by slug. The application is enabled for each of them. */
async function ensureTenants(admin: Connection, projectId: string, applicationId: string) {
  const { tenants } = await graphql(admin, documents.listTenantsDocument, { projectSlug: 'demo' })
  const { tenant2Applications: rows } = await graphql(admin, documents.listTenant2ApplicationsDocument, {
    applicationId,
  })
  const tenantsBySlug: Record<string, NamedEntity> = {}
  for (const [slug, name] of Object.entries(tenantNames)) {
    const tenant =
      tenants.find((one) => one.slug === slug) ??
      (await graphql(admin, documents.createTenantDocument, { projectId, input: { name, slug } }))
        .createTenant
    if (!rows.some((row) => row.tenant.id === tenant.id))
      await graphql(admin, documents.createTenant2ApplicationDocument, {
        input: { tenantId: tenant.id, applicationId },
      })
    tenantsBySlug[slug] = tenant
  }
  return tenantsBySlug
}

/** Sets project defaults, the pilets of the application, and overrides for the tenant Birch. */
async function ensureSettings(admin: Connection, { project, application, tenants }: DemoShop): Promise<void> {
  const getSettings = async (owner: { project?: string; application?: string; tenant?: string }) =>
    (await graphql(admin, documents.getSettingsDocument, owner)).settings
  const [projectSettings, applicationSettings, birchSettings] = [
    await getSettings({ project: project.id }),
    await getSettings({ application: application.id }),
    await getSettings({ tenant: tenants['birch']?.id ?? '' }),
  ]
  if (projectSettings.frontendSetting.moduleConfig.DefaultLocale === '')
    await graphql(admin, documents.updateFrontendModuleConfigDocument, {
      id: projectSettings.id,
      input: {
        EnabledThemes: ['light', 'dark'],
        DefaultTheme: 'light',
        EnabledLocales: Object.keys(packs),
        DefaultLocale: 'en',
        KeyValuePairs: [{ Key: 'support.mail', Value: 'help@demo.example' }],
      },
    })
  if (applicationSettings.backendSetting.moduleConfig.EnabledModules.length === 0)
    await graphql(admin, documents.updateBackendModuleConfigDocument, {
      id: applicationSettings.id,
      input: { EnabledModules: [piletName] },
    })
  if (birchSettings.frontendSetting.moduleConfig.KeyValuePairs.length === 0)
    await graphql(admin, documents.updateFrontendModuleConfigDocument, {
      id: birchSettings.id,
      input: { DefaultTheme: 'dark', KeyValuePairs: [{ Key: 'support.mail', Value: 'it@birch.example' }] },
    })
}

async function ensureLanguagePacks(admin: Connection, projectId: string): Promise<void> {
  const { languagePacks } = await graphql(admin, documents.listLanguagePacksDocument, { project: projectId })
  for (const [name, texts] of Object.entries(packs)) {
    if (languagePacks.some((pack) => pack.name === name)) continue
    const { createLanguagePack } = await graphql(admin, documents.createLanguagePackDocument, {
      projectId,
      input: { name },
    })
    const content = Object.entries(texts).map(([Key, Value]) => ({ Key, Value }))
    await graphql(admin, documents.updateLanguagePackContentDocument, {
      id: createLanguagePack.id,
      input: { content },
    })
  }
}

/** Publishes the pilet from the repository. Versions are immutable, so a modified pilet gets a new version. */
async function ensurePilet(admin: Connection, projectId: string): Promise<void> {
  const content = readFileSync(piletFile)
  const hash = createHash('sha256').update(content).digest('hex')
  const { piletPackages } = await graphql(admin, documents.listPiletsDocument, { projectId })
  const versions = piletPackages.packages.filter(({ name }) => name === piletName)
  if (versions.some((one) => one.hash === hash)) return
  const version = `1.0.${versions.length}`
  await publishPilet(admin, { projectId, name: piletName, version, content })
}

/** Adds a person to their tenant. Anna also becomes the owner of the project. */
async function ensureMember(
  admin: Connection,
  own: Connection,
  person: Person,
  { project, tenants }: DemoShop,
): Promise<void> {
  // The first request of a person creates their user.
  const { id: userID } = (await graphql(own, documents.meDocument, {})).me
  const tenantID = tenants[person.tenant]?.id ?? ''
  const { user2tenants } = await graphql(admin, documents.listTenantMembersDocument, { tenant: tenantID })
  if (!user2tenants.some(({ user }) => user.id === userID))
    await graphql(admin, documents.addUserToTenantDocument, { tenantID, userID, roleName: 'member' })
  if (person !== anna) return
  const { user2projects } = await graphql(admin, documents.listProjectMembersDocument, {
    project: project.id,
  })
  if (!user2projects.some(({ user }) => user.id === userID))
    await graphql(admin, documents.addUserToProjectDocument, { projectID: project.id, userID, role: 'owner' })
}
