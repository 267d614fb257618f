// Exports for programs that write rows without the service: the rules by which the service validates input.
export { backendSettings } from '../features/backends/backends.settings.ts'
export {
  findConsumeUrlProblem,
  findSecretProblem,
  findUrlProblem,
  findUsernameProblem,
} from '../features/endpoints/endpoint-rules.pure.ts'
export { defaultEnvironments } from '../features/environments/environments.store.ts'
export { seededTenantRoles } from '../features/memberships/tenant-roles.service.ts'
export { detectSpec, getStoredType } from '../features/pilets/bundle-form.pure.ts'
export { piletSettings } from '../features/pilets/pilets.settings.ts'
export { computePrecedence } from '../features/pilets/precedence.pure.ts'
export { type AccessRows, computeUserAccess } from '../features/proxy-auth/access.pure.ts'
export {
  type BackendModuleConfig,
  type EffectiveSettings,
  type FrontendModuleConfig,
  type Layers,
  fillBackendDefaults,
  fillFrontendDefaults,
  mergeLayers,
} from '../features/settings/layers.pure.ts'
export { createSettingsEvent } from '../features/settings/settings-event.pure.ts'
export { parseHash } from '../platform/credentials/kdf.ts'
export { parseUuid } from '../platform/ids.ts'
export { hasForbiddenCharacters, isLongerThan } from '../platform/inputs/inputs.ts'
export type { KeyValuePair } from '../platform/inputs/key-value-pairs.ts'
export { isExactVersion, isPackageName } from '../platform/inputs/packages.ts'
export { parseCallbackUrl } from '../platform/outbound/callback-url.ts'
export { createCallbacksPolicy } from '../platform/outbound/egress-policies.ts'
export { type AddressRules, createAddressRules } from '../platform/outbound/egress.ts'
export { transformations } from '../features/transformations/index.ts'
