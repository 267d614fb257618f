import { buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const settingsChanges = createTrailQuery({
  name: 'settings-changes',
  title: 'Changed settings and language packs',
  description:
    'Settings of projects, tenants and applications, language packs, and deployment specifications that were created, changed or removed. For settings that only backends read, rows contain the changed keys but not the values.',
  controls: ['ISO/IEC 27001:2022 A.8.9', 'ISO/IEC 27001:2022 A.8.32', 'SOC 2 CC8.1', 'NIST SP 800-53 CM-3'],
  columns: { layer: "l.metadata ->> 'layer'" },
  condition: buildEntityCondition(['settings', 'languagePack', 'deploymentSpecification']),
})
