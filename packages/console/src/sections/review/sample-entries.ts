// Entries for unit tests.
import type { Entry } from './report.ts'

export const createEntry = (values: Partial<Entry> = {}): Entry => ({
  entry_id: 'e',
  principal_type: 'user',
  principal_id: 'p',
  name: 'Anna',
  email: 'anna@example.com',
  scope_type: 'project',
  scope_id: 's',
  scope_name: 'Freight',
  project_id: 's',
  role: 'owner',
  enabled: true,
  granted_at: null,
  granted_by: null,
  last_activity_at: null,
  expires_at: null,
  flags: [],
  recommendation: 'keep',
  last_attestation: null,
  ...values,
})
