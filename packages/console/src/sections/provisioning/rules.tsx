// Rules as the pages describe them: the project, tenant or application in which a rule gives a role.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AddressSearch } from '../../app/list-search.ts'
import type { ProvisioningRulesResult } from '../../generated/documents.ts'
import type { Translate } from '../../texts/texts.ts'
import type { Kind } from '../members/kinds.ts'

export type Rule = ProvisioningRulesResult['rules']['nodes'][number]

export function findRuleKind({ tenant, application }: Rule): Kind {
  if (tenant !== null) return 'tenant'
  return application === null ? 'project' : 'application'
}

const findRuleObject = ({ project, tenant, application }: Rule) => tenant ?? application ?? project
export const findRuleObjectId = (rule: Rule): string => findRuleObject(rule).id
export const nameRuleObject = (rule: Rule): string => findRuleObject(rule).name

/** Returns the kind of the object, and the name of its project. */
export function describeScope(t: Translate, rule: Rule): string {
  const kind = findRuleKind(rule)
  const text = t(`members.of.${kind}`)
  return kind === 'project' ? text : t('provisioning.partOf', text, rule.project.name)
}

/** Links to the members of the object. */
export function RuleObjectLink({ rule }: { rule: Rule }): ReactNode {
  const kind = findRuleKind(rule)
  const name = nameRuleObject(rule)
  const search: AddressSearch = kind === 'project' ? {} : { in: kind, [kind]: findRuleObjectId(rule) }
  return (
    <Link
      to="/p/$project/members"
      params={{ project: rule.project.slug }}
      search={search as never}
      title={name}
    >
      {name}
    </Link>
  )
}
