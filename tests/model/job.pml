/* tests/model/job.pml - what becomes of a job: intake, submit and track of each epoch, an executor and a user, for spin
 *
 * That another daemon takes over is one step here: tests/model/serve.pml has how it comes about.  A stage may be
 * slow for as long as it likes before each step, which is also what a stop is: it goes on when another daemon has
 * done everything.  It may be killed before each, and is started again while its epoch is in force.  A request or its
 * answer may be lost, or the executor be away.
 *
 *   KILLS=n     so often a stage is killed        TAKEOVERS=n  so often (at most 1) another daemon takes over
 *   LOSSES=n    so many requests or answers are lost, or find the executor away
 *   USER        somebody may have the job killed, and then tried again
 *   LATE        a stop may also fall between a look at the lease and the call that it was for
 *   KEEPS       the executor is not told to forget a job that has ended
 *
 * What holds: the job is in one directory, and whole; each attempt runs at most once, and none beside another or after
 * the job has ended for us; and when nothing more happens it is done, or has failed because it was killed.
 *
 * Not here: a retry before the claim is gone, which a search that is slower than two attempts could miss
 * (stages/shared/duplicate.h sets such a copy aside); held/, arrays, sizes.
 *
 * What must be found: LATE without KEEPS, or with USER, a weakness that docs/reliability.md tells; and each protection taken out, see
 * tests/t/340-model.t.
 */
#define NOT 0
#define WELL 1
#define FAILED 2
#define PART 1
#define WHOLE 2
#ifdef KEEPS
#define KEPT true
#else
#define KEPT false
#endif
#ifdef SHARED_NEW
#define own 1
#else
#define own epoch
#endif

/* The spool */
byte in_force = 1;                      /* the epoch in .lease */
bool incoming = true, claimed;          /* the file */
byte unpublished[3];                    /* .new/ID.EPOCH: NOT there, PART of it is written, WHOLE */
bool rendered, submitted, failed, done; /* the job's directory */
byte attempt = 1;                       /* what is in it, by attempt: the record, ... */
bool intent[3];                         /* ... the log: it was about to be submitted, ... */
byte ended[3];                          /* ... and how it ended; ... */
bool kill_asked, retry_asked, killed;   /* ... and what its owner asks for, or has asked for */

/* The executor, by the token */
bool known[3], running[3], told[3];
byte result[3], runs[3];

byte kills = KILLS, takeovers = TAKEOVERS, losses = LOSSES;
bool dies[6]; /* intake, submit and track of both epochs: it is to end */

/* stage_is_fenced().  The look and what it was for are one step here, and two where LATE. */
#ifdef NO_FENCE
#define is_fenced false
#else
#define is_fenced (in_force != epoch)
#endif
inline look() { if :: is_fenced -> goto fenced :: else fi }
#ifdef LATE
#define look_and(act) look(); atomic { act }
#else
#define look_and(act) atomic { look(); act }
#endif
#ifdef MOVES_UNSEEN
#define look_and_move(act) look(); atomic { act }
#else
#define look_and_move(act) look_and(act)
#endif
#define is_once (rendered + submitted + failed + done == 1)
/* One rename, which fails where the job is no longer there. */
#define move(from, to) if :: from -> from = false; to = true; assert(is_once) :: else fi

/* Claim the file, write the job, publish it, dispose of the claim: stages/intake/accept.c */
proctype intake(byte epoch; byte me) {
    bool suspect, found;
begin:
    in_force == epoch;
    {
        /* recover_claims() */
        d_step { unpublished[1] = NOT; unpublished[2] = NOT; suspect = true };
        do
        :: incoming -> look_and(if :: incoming -> incoming = false; claimed = true; suspect = false :: else fi)
        :: claimed ->
#ifndef NO_SEARCH
            if
            :: suspect -> /* claims_find_jobs(): forward, as jobs move, and once more for those that went back */
                if :: rendered -> goto dispose :: else fi;
                if :: submitted -> goto dispose :: else fi;
                if :: failed -> goto dispose :: else fi;
                if :: done -> goto dispose :: else fi;
                if :: rendered -> goto dispose :: else fi;
                if :: submitted -> goto dispose :: else fi
            :: else
            fi;
#endif
            if :: !claimed -> goto next :: else fi; /* read now, after the search: the other may be done with it */
            unpublished[own] = PART; /* job_create(), which removes what is there */
            if :: unpublished[own] == PART -> unpublished[own] = WHOLE :: else fi;
            look_and(
                if
                :: unpublished[own] != NOT && !rendered ->
                    assert(unpublished[own] == WHOLE);
                    unpublished[own] = NOT; rendered = true;
                    assert(is_once)
                :: else -> unpublished[own] = NOT; suspect = true; goto next
                fi);
dispose:    claimed = false;
next:       skip
        od;
fenced: /* give_up() */
        if :: unpublished[own] == WHOLE -> unpublished[own] = PART :: else fi;
        unpublished[own] = NOT;
        false
    } unless { dies[me] }
    atomic { dies[me] = false; suspect = false; goto begin }
}

/* The executor is given attempt n: what it knows by its token is not started again. */
inline request(n) {
    if
#ifndef NO_TOKEN
    :: known[n]
#endif
    :: else ->
        runs[n]++;
        assert(runs[n] <= 1 && !running[3 - n] && !failed && !done);
        known[n] = true; running[n] = true
    fi
}

mtype = { accepted, unknown, away };

/* Note the intent, submit, move: stages/submit/handover.c */
proctype submit(byte epoch; byte me) {
    byte n;
    bool unsettled;
    mtype answer;
begin:
    in_force == epoch;
    {
        do
        :: rendered ->
            d_step { n = attempt; unsettled = intent[n] };
            if
            :: kill_asked && !unsettled -> look_and(move(rendered, failed); assert(!running[n]))
            :: else ->
#ifndef NO_INTENT
                intent[n] = true;
#endif
                look_and(
                    if
                    :: request(n); answer = accepted
                    :: losses > 0 -> losses--; request(n); answer = unknown
                    :: losses > 0 -> losses--; answer = unknown
                    :: losses > 0 -> losses--; answer = away
                    fi);
                if
                :: answer == accepted -> look_and_move(move(rendered, submitted))
#ifdef BELIEVES_AWAY
                :: answer == away -> intent[n] = false
#else
                :: answer == away -> if :: unsettled :: else -> intent[n] = false fi /* note_declined() */
#endif
                :: answer == unknown
                fi
            fi;
            atomic { n = 0; unsettled = false; answer = 0 }
        od;
fenced: false
    } unless { dies[me] }
    atomic { dies[me] = false; n = 0; unsettled = false; answer = 0; goto begin }
}

/* Ask, stop what is to be killed, note the end, have it forgotten, move: stages/track/; and bring back what is asked
 * for: stages/prepare/requeue.c. */
proctype track(byte epoch; byte me) {
    byte n, fate;
begin:
    in_force == epoch;
    {
        do
        :: submitted && running[attempt] && kill_asked && !told[attempt] -> look_and(told[attempt] = true)
        :: submitted && !running[attempt] ->
            d_step {
                n = attempt; fate = ended[n];
                if
                :: fate != NOT
                :: else -> if :: known[n] -> fate = result[n] :: else -> fate = FAILED /* it has vanished */ fi
                fi
            };
            look(); /* the answer may be older than a takeover */
#ifndef NO_END
            ended[n] = fate;
#endif
            look_and(known[n] = known[n] && KEPT);
            look_and_move(if :: fate == WELL -> move(submitted, done) :: else -> move(submitted, failed) fi);
            atomic { n = 0; fate = 0 }
        :: failed && retry_asked ->
            atomic { if :: attempt == 1 -> attempt = 2; kill_asked = false :: else fi };
            look_and(if :: failed -> retry_asked = false; move(failed, rendered) :: else fi)
        od;
fenced: false
    } unless { dies[me] }
    atomic { dies[me] = false; n = 0; fate = 0; goto begin }
}

/* What runs ends well, or because it was told to. */
active proctype executor() {
    do
    :: running[1] -> atomic { running[1] = false; if :: result[1] = WELL :: told[1] -> result[1] = FAILED fi }
    :: running[2] -> atomic { running[2] = false; if :: result[2] = WELL :: told[2] -> result[2] = FAILED fi }
    od
}

#ifdef USER
active proctype user() {
    if
    :: atomic { rendered || submitted -> kill_asked = true; killed = true };
       if :: failed && !claimed -> retry_asked = true :: skip fi
    :: skip
    fi
}
#endif

active proctype fate() {
    byte which;
    do
    :: kills > 0 -> atomic { kills--; select(which : 0 .. 2 + 3 * TAKEOVERS); dies[which] = true; which = 0 }
    :: takeovers > 0 -> atomic { takeovers--; in_force++ }
    od
}

active proctype at_last() {
    timeout;
    assert(!incoming && !claimed && !rendered && !submitted && (done || failed && killed));
    assert(!running[1] && !running[2])
}

init {
    atomic {
        run intake(1, 0); run submit(1, 1); run track(1, 2);
        if :: TAKEOVERS > 0 -> run intake(2, 3); run submit(2, 4); run track(2, 5) :: else fi
    }
}
