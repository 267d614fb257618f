// Exports for programs that seal and open secrets in the same way as the service.
export { getTokenLocation as tokenAddress } from '../features/backends/sealed-secrets.pure.ts'
export { createEncryptionRing as encryptionRing } from '../platform/secrets/keys.ts'
export { type LockMasterKey, createLockMasterKey } from '../platform/secrets/master-key.ts'
export { type Secrets, createSecrets } from '../platform/secrets/secrets.ts'
