// Appends audit entries and verifies chains as the service does, for tests of other packages.
export { createAudit } from '../../src/platform/audit/append.ts'
export { runVerification } from '../../src/platform/audit/verify-incremental.ts'
