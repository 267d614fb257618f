import type { Resolvers } from '../../generated/graphql.ts'
import { createContentCharge } from '../../platform/graphql/response-budget.ts'
import { load, loadRow } from '../../platform/graphql/loaders.ts'
import type { ApplicationsApi } from '../applications/index.ts'
import type { SettingsKeysService } from './settings-keys.service.ts'
import type { SettingsReads, SettingsRow } from './settings-reads.service.ts'
import type { SettingsService } from './settings.service.ts'

/**
 * Creates the GraphQL resolvers for settings. Values are charged to the response budget before they are read.
 */
export function createSettingsResolvers(
  service: SettingsService,
  keys: SettingsKeysService,
  reads: SettingsReads,
  applications: ApplicationsApi,
) {
  return {
    Query: {
      settings: async (_parent, owners, context) =>
        formatSettings(await reads.get(owners, createContentCharge(context))),
      effectiveSettings: (_parent, scope, context) => reads.getEffective(scope, createContentCharge(context)),
    },
    Tenant2Application: {
      settings: async (row, _args, context) => {
        const leaf = await load(context, 'Tenant2Application.settings', row.id, reads.findLeafRows)
        if (leaf === null) return null
        createContentCharge(context)(leaf.bytes)
        return formatSettings(await loadRow(context, 'settings', leaf.id, reads.findMany))
      },
    },
    Mutation: {
      updateBackendModuleConfig: async (_parent, { id, input }, { actor }) =>
        formatSettings(await service.updateBackend(actor, id, input)).backendSetting,
      updateFrontendModuleConfig: async (_parent, { id, input }, { actor }) =>
        formatSettings(await service.updateFrontend(actor, id, input)).frontendSetting,
      deleteBackendSettings: (_parent, { id, ...expected }, { actor }) =>
        service.emptyBackend(actor, id, expected),
      deleteFrontendSettings: (_parent, { id, ...expected }, { actor }) =>
        service.emptyFrontend(actor, id, expected),
      setSettingsKeys: async (_parent, { projectId, changes }, context) =>
        (await keys.setKeys(context.actor, projectId, changes, createContentCharge(context))).map(
          formatSettings,
        ),
      setPiletPins: async (_parent, { projectId, changes }, context) =>
        (await keys.setPins(context.actor, projectId, changes, createContentCharge(context))).map(
          formatSettings,
        ),
      ensureTenant2ApplicationSettings: async (_parent, { tenant2ApplicationId }, context) => {
        const leaf = await service.ensureLeaf(context.actor, tenant2ApplicationId)
        createContentCharge(context)(JSON.stringify(leaf).length)
        return formatSettings(leaf)
      },
      copyTenant2ApplicationConfig: async (_parent, { input }, context) => {
        const { sourceTenant2ApplicationId: source, targetTenant2ApplicationId: target, ...expected } = input
        await service.copyLeaf(context.actor, { source, target }, expected)
        return loadRow(context, 'tenant2Application', target, applications.findTenant2Applications)
      },
    },
  } satisfies Resolvers
}

/** Maps a row to the schema. The row and both of its parts have the same id, so a caller cannot use the wrong one. */
const formatSettings = ({ id, backend, frontend, revision, updatedAt }: SettingsRow) => ({
  id,
  updatedAt,
  revision,
  backendSetting: { id, moduleConfig: backend, revision },
  frontendSetting: { id, moduleConfig: frontend, revision },
})
