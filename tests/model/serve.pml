/* tests/model/serve.pml - which of two daemons serves: stages/lease.c and stages/epoch.c, for spin
 *
 * A step is a system call, or several between which nobody can tell a difference.  Before each a daemon may be
 * slow for as long as it likes, which is also what a stop is, or be killed, and be started again or not; or it is
 * told to leave.  A clock may step, or a stop last for longer than takeover_time: who lives is then taken for dead.
 *
 *   SAME_HOST   the daemons share a host and its lock; without it there are no locks
 *   PATIENCE    who is dead counts as dead after takeover_time; without it only where the lock proves it: at once
 *   KILLS=n     so often a daemon is killed or told to leave     STEPS=n   so often one that lives is taken for dead
 *
 * What holds: the epoch in .lease rises, so no two serve under one; nobody who lives is put out unless a clock
 * stepped; and when nothing more happens one serves, with the lock if there is one.
 *
 * What must be found: OLD, the protocol as it was, with a claim that is empty and a lease that is put over any
 * other (F5); and each of its protections taken out, see tests/t/340-model.t.
 */
#define EPOCHS 9 /* no run needs more */
#define NOBODY 2
#define NONE 255

/* The spool's directory: .lease, and for each N .epoch-N, which may be names of one file */
byte lease, lease_by, lease_life; /* 0: there is none */
bool lease_locked, lease_released;
byte top;                         /* the highest N of .epoch-N; 0: there is none */
bool claim[EPOCHS];               /* .epoch-N is there, ... */
byte by[EPOCHS], life_of[EPOCHS]; /* ... made by this daemon in that life, ... */
bool locked[EPOCHS], released[EPOCHS];
bool own[2];                      /* .lease-NUMBER of each is there */
byte lock = NOBODY;               /* who has the lock on .lock */

/* The daemons */
byte life[2];   /* how often it has ended */
byte serves[2]; /* its epoch; 0: it stands by */
bool away[2];   /* it is not started again */
bool leaves[2]; /* it is told to stop */
bool wrong[2];  /* its clock says for once that whatever it looks at is old */
byte kills = KILLS, steps = STEPS;

#define other(d) (1 - (d))

/* is_held(), turned round: does a line let daemon `me` pass?  `has`: it has the lock; `refused`: another has it. */
#ifdef PATIENCE
#define is_old(by, l) (life[by] != (l) || wrong[me])
#else
#define is_old(by, l) wrong[me]
#endif
#ifdef ANY_LOCK
#define is_proven(locked, has) (has)
#else
#define is_proven(locked, has) ((has) && (locked))
#endif
#ifdef UNLOCKED_FIRST
#define comes_first(refused) true
#else
#define comes_first(refused) (!(refused) || wrong[me]) /* where nobody is waited for, who has the lock does */
#endif
#define passes_lease(has, refused) (lease == 0 || lease_released -> comes_first(refused) : \
    is_proven(lease_locked, has) || is_old(lease_by, lease_life))
#define passes_claim(n, has, refused) (released[n] -> comes_first(refused) : \
    is_proven(locked[n], has) || is_old(by[n], life_of[n]))
#if defined(OLD)
#define is_free(has, refused) (passes_lease(has, refused) && (top <= lease || is_old(by[top], life_of[top])))
#elif defined(OVERLOOKS_CLAIMS)
#define is_free(has, refused) passes_lease(has, refused)
#else
#define is_free(has, refused) (passes_lease(has, refused) && (top <= lease || passes_claim(top, has, refused)))
#endif

inline count_claims() {
    top = 0;
    for (k : 1 .. EPOCHS - 1) { if :: claim[k] -> top = k :: else fi }
    k = 0
}

/* Written into the file, whichever names it has by now */
inline write_released() {
    d_step {
        if :: lease == mine -> lease_released = true :: else fi;
        if :: by[mine] == me && life_of[mine] == born -> released[mine] = true :: else fi
    }
}

/* epoch_withdraw(): given back, so that nobody has to wait it out.  The highest name stays: numbers are used once. */
inline withdraw() {
#ifndef KEEPS_CLAIM
    write_released();
#endif
    own[me] = false;
#ifdef FREES_NUMBER
    d_step { claim[mine] = false; count_claims() }
#else
    last = top;
    d_step { if :: last > mine -> claim[mine] = false :: else fi; count_claims() }
#endif
    goto not_taken
}

proctype daemon(byte me) {
    byte last, judged, mine, k, born;
    bool refused;
begin:
    atomic { !away[me]; born = life[me]; last = 0; judged = 0; mine = 0; k = 0; refused = false; leaves[me] = false }
    {
        skip;
stand_by:
        /* try_lock().  It looks once a second; here, when there is something to find. */
        if
#ifdef SAME_HOST
        :: atomic { (lock == NOBODY || lock == me) && is_free(true, false) -> lock = me; refused = false }
#ifdef KEEPS_LOCK
        :: atomic { lock == NOBODY -> lock = me }; goto stand_by
        :: atomic { lock == other(me) && is_free(false, true) -> refused = true }
#else
        /* Another that only looks has the lock for a moment. */
        :: atomic { lock != me && is_free(false, true) -> refused = true }
#endif
#else
        :: is_free(false, false)
#endif
        :: leaves[me] -> goto leave
        fi;
        /* look() and is_taken(): the names, the lease, the highest claim */
        last = top;
        d_step {
            judged = lease;
            if
            :: passes_lease(lock == me, refused) ->
                assert(wrong[me] || lease == 0 || lease_released || life[lease_by] != lease_life) /* it was not alive */
            :: else -> last = NONE
            fi
        }
#if !defined(OLD) && !defined(OVERLOOKS_CLAIMS)
        d_step {
            if
            :: last == NONE || last <= judged
            :: else ->
                if
                :: claim[last] && passes_claim(last, lock == me, refused) ->
                    assert(wrong[me] || released[last] || life[by[last]] != life_of[last])
                :: else -> last = NONE
                fi
            fi
        }
#endif
        if :: last == NONE -> goto not_taken :: else fi;
        d_step {
            if :: last > judged -> mine = last + 1 :: else -> mine = judged + 1 fi;
            wrong[me] = false; last = 0; refused = false;
            own[me] = true
        }
        /* epoch_claim(): linkat, which fails when the name is another's, or own file is gone */
        d_step {
            assert(mine < EPOCHS);
            if
            :: claim[mine] || !own[me] -> mine = 0; own[me] = false
            :: else ->
                claim[mine] = true; by[mine] = me; life_of[mine] = born; locked[mine] = (lock == me); released[mine] = false;
                count_claims()
            fi
        }
        if :: mine == 0 -> goto not_taken :: else fi;
#if !defined(NO_LOOK) && !defined(OLD)
        /* is_first() */
        last = top;
        if :: last != mine || lease != judged -> withdraw() :: else fi;
#endif
        /* epoch_publish(): first what is left of others */
#if !defined(KEEPS_OWN) && !defined(OLD)
        own[other(me)] = false;
#endif
#ifndef OLD
        d_step { for (k : 1 .. EPOCHS - 1) { if :: k < mine -> claim[k] = false :: else fi } count_claims() }
#endif
        /* renameat, and the look whose file .lease is */
        d_step {
            if
            :: own[me] ->
                assert(mine > lease); /* the epoch rises */
                lease = mine; lease_by = me; lease_life = born; lease_locked = locked[mine]; lease_released = false;
                own[me] = false; serves[me] = mine
            :: else
            fi
        }
        if :: serves[me] == 0 -> withdraw() :: else fi;
serving:
        if
        :: lease != mine -> serves[me] = 0; goto not_taken
#ifdef SAME_HOST
        /* lease_renew() */
        :: atomic { lease == mine && lock == NOBODY -> lock = me };
           d_step { if :: lease == mine -> lease_locked = true; locked[mine] = true :: else fi };
           goto serving
#endif
        :: leaves[me] -> serves[me] = 0; write_released(); goto leave
        fi;
not_taken:
        atomic { mine = 0; judged = 0; last = 0 }
#ifndef KEEPS_LOCK
        atomic { if :: lock == me -> lock = NOBODY :: else fi }
#endif
        goto stand_by;
leave:
        atomic { if :: lock == me -> lock = NOBODY :: else fi; life[me]++ }
    } unless { life[me] != born }
    goto begin
}

/* What goes wrong from outside.  A daemon's lock goes with it. */
active proctype fate() {
    byte d;
    do
    :: kills > 0 -> atomic {
        kills--;
        if :: d = 0 :: d = 1 fi;
        if :: !away[other(d)] -> away[d] = true :: away[d] = false fi;
        if
        :: life[d]++; serves[d] = 0; own[d] = false; if :: lock == d -> lock = NOBODY :: else fi
        :: leaves[d] = true
        fi }
    :: steps > 0 -> atomic { steps--; if :: wrong[0] = true :: wrong[1] = true fi }
    od
}

#define in_force(d) (serves[d] != 0 && serves[d] == lease)
active proctype at_last() {
    timeout;
    assert(in_force(0) || in_force(1));
#ifdef SAME_HOST
    assert(in_force(0) && lock == 0 || in_force(1) && lock == 1)
#endif
}

init { atomic { run daemon(0); run daemon(1) } }
