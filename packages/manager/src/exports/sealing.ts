// Exports for programs that seal and open secrets in the same way as the service.
export { getTokenLocation } from '../features/backends/sealed-secrets.pure.ts'
export { createEncryptionRing } from '../platform/secrets/keys.ts'
export { type LockMasterKey, createMasterKeyLock } from '../platform/secrets/master-key.ts'
export { type Secrets, createSecrets } from '../platform/secrets/secrets.ts'
