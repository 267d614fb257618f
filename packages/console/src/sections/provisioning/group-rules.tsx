// The roles that the members of a group get.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { provisioningRulesDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { IconButton } from '../../kit/button.tsx'
import { TwoLines } from '../../kit/data-table.tsx'
import type { PageSize } from '../../kit/page-sizes.ts'
import { Pager } from '../../kit/pager.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { ChangeRuleDialog, DeleteRuleDialog } from './rule-dialogs.tsx'
import { type Rule, RuleObjectLink, describeScope, nameRuleObject } from './rules.tsx'

type Asked = { readonly rule: Rule; readonly action: 'change' | 'delete' }

export function GroupRules({ groupId }: { groupId: string }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(25)
  const [asked, setAsked] = useState<Asked | null>(null)
  const { data, error, refetch } = useRead(
    provisioningRulesDocument,
    {
      filters: [{ field: 'groupId', value: groupId }],
      pagination: { limit: size, offset: (page - 1) * size },
    },
    { keepsPrevious: true },
  )
  const result = data?.rules
  return (
    <Section title={t('provisioning.view.rules')} note={result !== undefined && number(result.totalCount)}>
      {result === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {result === undefined && error === null && <Skeleton rows={3} />}
      {result?.nodes.length === 0 && <SectionText>{t('provisioning.noRulesOfGroup')}</SectionText>}
      {result?.nodes.map((rule) => (
        <RuleRow key={rule.id} rule={rule} onAsk={setAsked} />
      ))}
      {result !== undefined && result.totalCount > size && (
        <div className="section-pager">
          <Pager
            page={page}
            size={size}
            shown={result.nodes.length}
            total={result.totalCount}
            isTotalExact={result.isTotalExact}
            onPage={setPage}
            onSize={(next) => {
              setSize(next)
              setPage(1)
            }}
          />
        </div>
      )}
      {asked?.action === 'change' && <ChangeRuleDialog rule={asked.rule} onClose={() => setAsked(null)} />}
      {asked?.action === 'delete' && <DeleteRuleDialog rule={asked.rule} onClose={() => setAsked(null)} />}
    </Section>
  )
}

function RuleRow({ rule, onAsk }: { rule: Rule; onAsk: (asked: Asked) => void }): ReactNode {
  const t = useText()
  const mayChange = useSystemMay('provisioning.changeRule')
  const mayDelete = useSystemMay('provisioning.deleteRule')
  const name = nameRuleObject(rule)
  return (
    <SectionRow
      isTall
      end={
        <>
          <Badge tone="outline">{rule.role}</Badge>
          {mayChange && (
            <IconButton
              icon="edit"
              size="small"
              action="provisioning.changeRule"
              label={t('members.changeRoleIn', name)}
              onPress={() => onAsk({ rule, action: 'change' })}
            />
          )}
          {mayDelete && (
            <IconButton
              icon="delete"
              size="small"
              action="provisioning.deleteRule"
              label={t('provisioning.deleteRuleIn', name)}
              onPress={() => onAsk({ rule, action: 'delete' })}
            />
          )}
        </>
      }
    >
      <div className="rule-object">
        <TwoLines first={<RuleObjectLink rule={rule} />} second={describeScope(t, rule)} />
      </div>
    </SectionRow>
  )
}
