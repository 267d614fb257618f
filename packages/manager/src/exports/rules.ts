// Exports for programs that write rows without the service: the validation rules that the service applies to
// the input of callers.
export { backendSettings } from '../features/backends/backends.settings.ts'
export {
  findConsumeUrlProblem as problemOfConsumeUrl,
  findSecretProblem as problemOfSecret,
  findUrlProblem as problemOfUrl,
  findUsernameProblem as problemOfUsername,
} from '../features/endpoints/endpoint-rules.pure.ts'
export { defaultEnvironments } from '../features/environments/environments.store.ts'
export { seededTenantRoles } from '../features/memberships/tenant-roles.service.ts'
export { detectSpec as specOf, getStoredType as storedTypeOf } from '../features/pilets/bundle-form.pure.ts'
export { piletSettings } from '../features/pilets/pilets.settings.ts'
export { computePrecedence as precedenceOf } from '../features/pilets/precedence.pure.ts'
export { type AccessRows, computeUserAccess as accessOfUser } from '../features/proxy-auth/access.pure.ts'
export {
  type BackendModuleConfig,
  type EffectiveSettings,
  type FrontendModuleConfig,
  type Layers,
  fillBackendDefaults as fullBackend,
  fillFrontendDefaults as fullFrontend,
  mergeLayers,
} from '../features/settings/layers.pure.ts'
export { createSettingsEvent as settingsEvent } from '../features/settings/settings-event.pure.ts'
export { parseHash } from '../platform/credentials/kdf.ts'
export { parseUuid } from '../platform/ids.ts'
export { hasForbiddenCharacters, isLongerThan } from '../platform/inputs/inputs.ts'
export type { KeyValuePair } from '../platform/inputs/key-value-pairs.ts'
export { isExactVersion, isPackageName } from '../platform/inputs/packages.ts'
export { parseCallbackUrl } from '../platform/outbound/callback-url.ts'
export { createCallbacksPolicy as callbacksPolicy } from '../platform/outbound/egress-policies.ts'
export { type AddressRules, createAddressRules } from '../platform/outbound/egress.ts'
export { transformations } from '../features/transformations/index.ts'
