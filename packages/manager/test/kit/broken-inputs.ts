// Inputs with several invalid values, for every mutation with at least two fields that have rules.
import { randomUUID } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'
import type { TestApp } from './app.ts'
import { seedSpecification } from './deployments.ts'
import { seedEndpoint } from './endpoints.ts'
import { seedTrigger } from './triggers.ts'

type Values = Record<string, unknown>
type Arguments = Record<string, [type: string, value: unknown]>
type BrokenInput = {
  /** The arguments with their types and values. `text` is a value that breaks the rule of every text field. */
  args: (text: string) => Arguments | Promise<Arguments>
  paths: string[]
}
type Scene = { service: TestApp; admin: Person; project: SeededProject }

export const marker = 'hidden-value'
export const secretPaths = /authPassword|authToken|hashedKey|tokenPrefix/
export const hostileTexts = [
  `/${marker}`.repeat(1_000),
  `${marker}\u0000`,
  `\u202e${marker}`.repeat(1_000),
  `${marker}\ud800 `.repeat(500),
]

const input = (type: string, values: Values): Arguments => ({
  input: [`${type}!`, values],
})
const id = (value: string): Arguments => ({ id: ['ID!', value] })

const endpointInput = (text: string): Values => ({
  consumeURL: text.slice(1),
  url: text,
  authUsername: text,
  transformationTemplate: '{{',
  name: text,
  description: text,
  authPassword: text,
  authToken: text,
})
const endpointPaths = Object.keys(endpointInput('')).map((name) => `input.${name}`)
const specificationInput = (text: string): Values => ({
  minReplicas: -1,
  maxReplicas: 1_001,
  workload: text,
  image: text,
  version: text,
  port: 0,
  healthPath: text,
  readinessTimeoutSeconds: 0,
})
const specificationPaths = Object.keys(specificationInput('')).map((name) => `input.${name}`)
const triggerInput = (text: string): Values => ({
  name: text,
  description: text,
  runKey: text,
  cronExpression: text,
})
const triggerPaths = ['input.name', 'input.description', 'input.runKey', 'input.cronExpression']
const applicationPaths = ['input.name', 'input.slug', 'input.description']
const tenantPaths = ['input.name', 'input.slug', 'input.deploymentMode']

async function createRow({ service, admin }: Scene, mutation: string): Promise<string> {
  const { data, error } = await service.query(admin, `mutation { row: ${mutation} { id } }`)
  if (error !== null) throw new Error(error)
  return data.row.id as string
}

async function readSettingsId({ service, admin, project }: Scene): Promise<string> {
  const { data } = await service.query(admin, `{ row: settings(project: "${project.id}") { id } }`)
  return data.row.id as string
}

/** Returns the inputs by mutation, with the paths of their invalid values. */
export function createBrokenInputs(scene: Scene): Record<string, BrokenInput> {
  return { ...createTenancyInputs(scene), ...createIntegrationInputs(scene), ...createContentInputs(scene) }
}

function createTenancyInputs(scene: Scene): Record<string, BrokenInput> {
  return {
    createProject: {
      args: (text) => input('CreateProjectInput', { name: text, slug: text }),
      paths: ['input.name', 'input.slug'],
    },
    updateProject: {
      args: (text) => ({
        ...id(scene.project.id),
        ...input('UpdateProjectInput', { name: text, slug: text }),
      }),
      paths: ['input.name', 'input.slug'],
    },
    createTenant: {
      args: (text) => ({
        projectId: ['ID!', scene.project.id],
        ...input('CreateTenantInput', { name: text, slug: text, deploymentMode: text }),
      }),
      paths: tenantPaths,
    },
    updateTenant: {
      args: (text) => ({
        ...id(scene.project.tenantId),
        ...input('UpdateTenantInput', { name: text, slug: text, deploymentMode: text }),
      }),
      paths: tenantPaths,
    },
    createTenantRoleDefinition: {
      args: (text) => ({
        tenantId: ['ID!', scene.project.tenantId],
        ...input('CreateTenantRoleDefinitionInput', { name: text, permissions: ['apps.read', text] }),
      }),
      paths: ['input.name', 'input.permissions.1'],
    },
    updateTenantRoleDefinition: {
      args: async (text) => ({
        ...id(
          await createRow(
            scene,
            `createTenantRoleDefinition(tenantId: "${scene.project.tenantId}", input: {name: "${randomUUID()}", permissions: []})`,
          ),
        ),
        ...input('UpdateTenantRoleDefinitionInput', { name: text, permissions: [text, text] }),
      }),
      paths: ['input.name', 'input.permissions.0', 'input.permissions.1'],
    },
    createApplication: {
      args: (text) => ({
        projectId: ['ID!', scene.project.id],
        ...input('CreateApplicationInput', { name: text, slug: text, description: text }),
      }),
      paths: applicationPaths,
    },
    updateApplication: {
      args: (text) => ({
        ...id(scene.project.applicationId),
        ...input('UpdateApplicationInput', { name: text, slug: text, description: text }),
      }),
      paths: applicationPaths,
    },
    createPersonalAccessToken: {
      args: (text) => ({ name: ['String!', text], expiresAt: ['String', text] }),
      paths: ['name', 'expiresAt'],
    },
  }
}

function createIntegrationInputs({ service, project }: Scene): Record<string, BrokenInput> {
  return {
    createEndpoint: {
      args: (text) => ({
        applicationId: ['ID!', project.applicationId],
        ...input('CreateEndpointInput', endpointInput(text)),
      }),
      paths: endpointPaths,
    },
    updateEndpoint: {
      args: async (text) => ({
        ...id(await seedEndpoint(service.sql, project)),
        ...input('UpdateEndpointInput', endpointInput(text)),
      }),
      paths: endpointPaths,
    },
    createTrigger: {
      args: (text) => ({
        applicationId: ['ID!', project.applicationId],
        ...input('CreateTriggerInput', triggerInput(text)),
      }),
      paths: triggerPaths,
    },
    updateTrigger: {
      args: async (text) => ({
        ...id(await seedTrigger(service.sql, project)),
        ...input('UpdateTriggerInput', triggerInput(text)),
      }),
      paths: triggerPaths,
    },
    createDeploymentSpecification: {
      args: (text) => ({
        applicationId: ['ID!', project.applicationId],
        ...input('CreateDeploymentSpecificationInput', {
          environmentId: randomUUID(),
          ...specificationInput(text),
        }),
      }),
      paths: specificationPaths,
    },
    updateDeploymentSpecification: {
      args: async (text) => ({
        ...id(await seedSpecification(service.sql, project)),
        ...input('UpdateDeploymentSpecificationInput', specificationInput(text)),
      }),
      paths: specificationPaths,
    },
    createMachineUserWithCredentials: {
      args: (text) => ({
        environmentId: ['ID!', project.environmentId],
        ...input('CreateMachineUserInput', { name: text, username: text, hashedKey: text }),
      }),
      paths: ['input.name', 'input.username', 'input.hashedKey'],
    },
    updateMachineUser: {
      args: async (text) => ({
        ...id((await seedMachineUser(service.sql, project)).id),
        ...input('UpdateMachineUserInput', { hashedKey: text, tokenPrefix: text }),
      }),
      paths: ['input.hashedKey', 'input.tokenPrefix'],
    },
  }
}

function createContentInputs(scene: Scene): Record<string, BrokenInput> {
  return {
    updateBackendModuleConfig: {
      args: async (text) => ({
        ...id(await readSettingsId(scene)),
        ...input('UpdateBackendModuleConfigInput', {
          EnabledModules: ['fine', text],
          KeyValuePairs: [
            { Key: text, Value: '' },
            { Key: 'fine', Value: '\u0000' },
          ],
        }),
      }),
      paths: ['input.EnabledModules.1', 'input.KeyValuePairs.0.Key', 'input.KeyValuePairs.1.Value'],
    },
    updateFrontendModuleConfig: {
      args: async (text) => ({
        ...id(await readSettingsId(scene)),
        ...input('UpdateFrontendModuleConfigInput', {
          EnabledThemes: [text],
          DefaultTheme: text,
          EnabledLocales: ['de', text],
          DefaultLocale: text,
          KeyValuePairs: [{ Key: 'pilets.pins', Value: text }],
        }),
      }),
      paths: [
        'input.EnabledThemes.0',
        'input.DefaultTheme',
        'input.EnabledLocales.1',
        'input.DefaultLocale',
        'input.KeyValuePairs.0.Value',
      ],
    },
    setSettingsKeys: {
      args: async (text) => {
        const change = { settingsId: await readSettingsId(scene), part: text, unset: ['a'] }
        return {
          projectId: ['ID!', scene.project.id],
          changes: ['[UpdateSettingsKeysInput!]!', [change, change]],
        }
      },
      paths: ['changes.0.part', 'changes.1.part'],
    },
    updateLanguagePackContent: {
      args: async (text) => ({
        ...id(
          await createRow(
            scene,
            `createLanguagePack(projectId: "${scene.project.id}", input: {name: "de-${randomUUID().slice(0, 8)}"})`,
          ),
        ),
        ...input('UpdateLanguagePackContentInput', {
          content: [
            { Key: text, Value: '' },
            { Key: 'a', Value: '\u0000' },
            { Key: '', Value: '' },
          ],
        }),
      }),
      paths: ['input.content.0.Key', 'input.content.1.Value', 'input.content.2.Key'],
    },
    setLanguagePackKeys: {
      args: async (text) => {
        const pack = () =>
          createRow(
            scene,
            `createLanguagePack(projectId: "${scene.project.id}", input: {name: "de-${randomUUID().slice(0, 8)}"})`,
          )
        const set = [{ Key: text, Value: '' }]
        return {
          projectId: ['ID!', scene.project.id],
          changes: [
            '[UpdateLanguagePackKeysInput!]!',
            [
              { packId: await pack(), set },
              { packId: await pack(), set: [{ Key: 'a..b', Value: '' }] },
            ],
          ],
        }
      },
      paths: ['changes.0', 'changes.1'],
    },
  }
}
