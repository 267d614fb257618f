import { joinWithOr, buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const auditAccess = createTrailQuery({
  name: 'audit-access',
  title: 'Access to audit records',
  description:
    'Exports of the audit trail, runs of evidence queries, and access review reports, each with its request parameters. A run does not list itself.',
  controls: ['ISO/IEC 27001:2022 A.8.15', 'SOC 2 CC7.2', 'NIST SP 800-53 AU-9', 'NIST SP 800-53 AU-12'],
  columns: { asked_for: 'l.metadata' },
  condition: joinWithOr(
    buildEntityCondition(['auditTrail'], 'export'),
    buildEntityCondition(['evidence', 'accessReview'], 'read'),
  ),
})
