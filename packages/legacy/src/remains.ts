// What is kept of a row that was kept aside: everything but credentials, which stay in the old database.
const credentials = new Set([
  'token_hash',
  'password_hash',
  'hash',
  'callback_token',
  'auth_password',
  'auth_token',
  'token_prefix',
  // They may carry a secret in an address, or be one in the wrong place.
  'callback_url',
  'url',
  'auth_username',
  'transformation_template',
  // What only backends should know.
  'backend_module_config',
])
const ours = new Set(['place', 'rank', 'holder', 'holder_place', 'tenant', 'content'])

export const remainsOf = (row: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name, value]) => !credentials.has(name) && !ours.has(name) && value !== null,
    ),
  )
