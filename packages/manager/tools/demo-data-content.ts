// Creates the content of the demo's applications: settings, pilets, language packs and deployment specifications.
import { type Connection, graphql, publishPilet } from '@manager/client'
import * as documents from '@manager/client/documents'
import { type DemoShop, getTenantId, readShellSource } from './demo-data.ts'
import { noticeKey, piletName, piletVersions } from './demo-world.ts'

/** Connections of the people who create the content. */
type Authors = { owner: Connection; maintainer: Connection; developer: Connection }

type Layer = { project?: string; application?: string; tenant?: string }
type Pairs = Readonly<Record<string, string>>

export async function createContent(authors: Authors, shop: DemoShop): Promise<void> {
  await createSettings(authors.owner, shop)
  await publishPilets(authors, shop)
  await createLanguagePacks(authors.developer, shop.project.id)
  await createDeployments(authors.maintainer, shop)
}

const toPairs = (pairs: Pairs) => Object.entries(pairs).map(([Key, Value]) => ({ Key, Value }))

const findSettingsId = async (connection: Connection, layer: Layer): Promise<string> =>
  (await graphql(connection, documents.getSettingsDocument, layer)).settings.id

async function createSettings(owner: Connection, shop: DemoShop): Promise<void> {
  const { project, application } = shop
  const updateFrontend = async (
    layer: Layer,
    {
      pairs,
      ...fields
    }: { pairs?: Pairs } & Omit<documents.UpdateFrontendModuleConfigInput, 'KeyValuePairs'>,
  ): Promise<unknown> =>
    graphql(owner, documents.updateFrontendModuleConfigDocument, {
      id: await findSettingsId(owner, layer),
      input: { ...fields, ...(pairs === undefined ? {} : { KeyValuePairs: toPairs(pairs) }) },
    })
  const updateBackend = async (layer: Layer, pairs: Pairs, modules?: string[]): Promise<unknown> =>
    graphql(owner, documents.updateBackendModuleConfigDocument, {
      id: await findSettingsId(owner, layer),
      input: { KeyValuePairs: toPairs(pairs), ...(modules === undefined ? {} : { EnabledModules: modules }) },
    })
  const [acme, birch] = ['acme', 'birch'].map((slug) => ({ tenant: getTenantId(shop, slug) })) as [
    Layer,
    Layer,
  ]
  await updateFrontend(
    { project: project.id },
    {
      EnabledThemes: ['light', 'dark'],
      DefaultTheme: 'light',
      EnabledLocales: ['en', 'de'],
      DefaultLocale: 'en',
      pairs: { 'support.mail': 'help@bloom.example' },
    },
  )
  await updateBackend({ project: project.id }, { 'order.limit': '100', 'warehouse.secret': 'an example' })
  await updateFrontend(
    { application: application.id },
    { pairs: { [noticeKey]: 'Tulips are in season. Orders before noon arrive tomorrow.' } },
  )
  await updateBackend({ application: application.id }, { 'stock.warehouse': 'north' }, [piletName])
  await updateBackend(acme, { 'order.limit': '500' })
  await updateFrontend(birch, { DefaultTheme: 'dark', pairs: { 'support.mail': 'it@birch.example' } })
  await createPairSettings(owner, shop)
}

/** Gives Acme its own notice in the shop. The notice is in the most specific settings layer. */
async function createPairSettings(owner: Connection, shop: DemoShop): Promise<void> {
  const { tenant2Applications: rows } = await graphql(owner, documents.listTenant2ApplicationsDocument, {
    tenantId: getTenantId(shop, 'acme'),
  })
  const row = rows.find(({ application }) => application.id === shop.application.id)
  const { ensureTenant2ApplicationSettings: settings } = await graphql(
    owner,
    documents.ensureTenant2ApplicationSettingsDocument,
    { tenant2ApplicationId: row?.id ?? '' },
  )
  await graphql(owner, documents.updateFrontendModuleConfigDocument, {
    id: settings.id,
    input: { KeyValuePairs: toPairs({ [noticeKey]: 'Hotels order by contract. No card is needed.' }) },
  })
}

/** Publishes two versions. The tenant Cedar is pinned to the first version. */
async function publishPilets({ owner, developer }: Authors, shop: DemoShop): Promise<void> {
  const projectId = shop.project.id
  for (const { version, file, description } of piletVersions)
    await publishPilet(developer, {
      projectId,
      name: piletName,
      version,
      description,
      content: readShellSource(file),
    })
  const settingsId = await findSettingsId(owner, { tenant: getTenantId(shop, 'cedar') })
  await graphql(owner, documents.setPiletPinsDocument, {
    projectId,
    changes: [{ settingsId, set: [{ name: piletName, version: piletVersions[0].version }] }],
  })
}

/** Creates a language pack from each translation file. The French pack is incomplete, and no tenant has enabled it. */
async function createLanguagePacks(developer: Connection, projectId: string): Promise<void> {
  for (const name of ['en', 'de', 'fr']) {
    const texts = JSON.parse(readShellSource(`texts/${name}.json`).toString()) as Pairs
    const { createLanguagePack } = await graphql(developer, documents.createLanguagePackDocument, {
      projectId,
      input: { name },
    })
    await graphql(developer, documents.updateLanguagePackContentDocument, {
      id: createLanguagePack.id,
      input: { content: toPairs(texts) },
    })
  }
}

async function createDeployments(maintainer: Connection, { project, applications }: DemoShop): Promise<void> {
  const { environments } = await graphql(maintainer, documents.listEnvironmentsDocument, {
    projectId: project.id,
  })
  const environmentId = environments.find(({ name }) => name === 'run')?.id ?? ''
  for (const [slug, { id }] of Object.entries(applications))
    await graphql(maintainer, documents.createDeploymentSpecificationDocument, {
      applicationId: id,
      input: {
        environmentId,
        workload: `bloom/${slug}`,
        image: `registry.example/bloom/${slug}`,
        version: '4.2.0',
        maxReplicas: 3,
      },
    })
}
