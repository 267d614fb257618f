// The invitations to the project, tenant or application whose members are listed.
import type { ReactNode } from 'react'
import { SidePanel } from '../../kit/side-panel.tsx'
import { useText } from '../../texts/language.tsx'
import type { InvitationTarget } from '../invitations/kinds.ts'
import { OpenInvitations } from '../invitations/open-invitations.tsx'

type InvitationPanelProps = Pick<InvitationTarget, 'kind' | 'object'> & { onClose: () => void }

export function InvitationPanel({ kind, object, onClose }: InvitationPanelProps): ReactNode {
  const t = useText()
  return (
    <SidePanel title={t('invitations.manyTo', object.name)} onClose={onClose}>
      <OpenInvitations
        // The page and the dialogs belong to one object.
        key={object.id}
        kind={kind}
        object={object}
        actions={{
          invite: `members.${kind}.invite`,
          revoke: `members.${kind}.revokeInvitation`,
        }}
      />
    </SidePanel>
  )
}
