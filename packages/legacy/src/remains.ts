// Selects the stored content of a skipped row: everything except credentials, which stay in the old database.
const secretColumns = new Set([
  'token_hash',
  'password_hash',
  'hash',
  'callback_token',
  'auth_password',
  'auth_token',
  'token_prefix',
  // These columns may contain a secret: in a URL, or by mistake.
  'callback_url',
  'url',
  'auth_username',
  'transformation_template',
  // Only backends may read these settings.
  'backend_module_config',
])
const computedColumns = new Set(['project', 'rank', 'holder', 'holder_project', 'tenant', 'content'])

export const getRemainder = (row: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name, value]) => !secretColumns.has(name) && !computedColumns.has(name) && value !== null,
    ),
  )
