// What the import does with rows that cannot come over as they are. A report names the rule of each;
// docs/reference/legacy-views.md explains them.

export const rules = {
  orphan: 'what it belongs to is not there, or was kept aside: kept aside',
  'name-fitted': 'its name, description or version broke a rule: made to fit',
  'slug-fitted': 'its slug broke a rule or was taken: made to fit',
  'clone-texts': 'its name, description or slug differs from that of the application it became a part of',
  'second-clone': 'its tenant has two clones of one application: the second is an application of its own',
  'template-settings': 'settings of a template that no tenant used: kept aside',
  'settings-owner':
    'it names none or several of project, tenant and application, or its owner has a row: kept aside',
  'settings-shape': 'fields that are unknown or of another type were left out',
  'role-twice': 'the person has a higher role in the same tenant',
  'no-subject': 'the id of the person is no UUID, so nobody can sign in with it: kept aside',
  'username-taken':
    'another machine user of the project has the user name: renamed, and its owner must be told',
  'token-shared': 'another machine user has the same token, and stands for both',
  'token-elsewhere': 'a machine user of another project has the same token: kept aside',
  'no-credential': 'it has no credential that can be verified: kept aside',
  'registers-again': 'its callback token or URL cannot be used: kept aside, the backend registers again',
  'registered-twice': 'the machine user has a newer registration for the application',
  'endpoint-variant':
    'other tenants call something else at its path: it has a path of its own, and callers must be told',
  'endpoint-texts':
    'its name, description or log level differs from that of the endpoint it became a part of',
  'endpoint-refused': 'the rules of endpoints refuse it: kept aside',
  'endpoint-no-secret': 'it needs a secret that the view does not give: disabled',
  'caller-unknown': 'some of its callers are not machine users of its project',
  'pilet-refused': 'its name, version, size or hash is refused: kept aside',
  'version-taken': 'the project has other bytes under this name and version: kept aside',
  'same-bytes': 'the project has the same bytes under this name and version',
  'prefix-taken': 'another token has the same prefix: kept aside',
} as const

export type RuleName = keyof typeof rules
