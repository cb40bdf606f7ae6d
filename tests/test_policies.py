"""Policies by their specs: the registry, weights, mixtures, users' functions and files of them."""

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from user_policies import last_legal, own_registry, scatter

from kozel_sim import get_policy, ladder, list_policies, play, policy
from kozel_sim.decision import Function, Ladder, Policy, Stage
from kozel_sim.features import FEATURES
from kozel_sim.moves import legal_codes, move_tiles
from kozel_sim.policies import policy_table, read_policies, split_specs
from kozel_sim.policies.builtin import BUILTIN
from kozel_sim.policies.spec import write_ladder
from kozel_sim.tiles import HIGH, LOW, PIPS, Hand, tile_id

BUILT_IN = ["random", "dump_heavy", "dump_doubles", "keep_range", "block_ends"]
SPECS = [
    *BUILT_IN,
    "weights:pips=1,double=3,range=2,block=0.5,lock=1.5",
    "weights:longest=-1.25,match=0.001",
    "prefer:pips",
    "prefer:goes_out>hold_last>strand_double>long_suit?match>-lock",
    "prefer:rival_low?pips=1,double=8>keep_range>fenced?pips=-0.5",
    "mix:0.5*prefer:hold_last>pips+0.5*seven_tips",
    "mix:0.7*keep_range+0.3*random",
    "mix:0.25*random+0.25*scatter:which=2+0.5*weights:pips=1,double=8",
    "scatter",
    "scatter:which=3",
]


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


# ---------------------------------------------------------------------- names


def test_built_ins_are_listed_first():
    assert list_policies()[:5] == BUILT_IN


def test_every_registered_policy_is_described():
    table = policy_table()
    assert [row["name"] for row in table] == list_policies()
    assert all(row["doc"] and row["source"] for row in table)


def test_a_policy_is_its_own_spec():
    chosen = get_policy("dump_heavy")
    assert get_policy(chosen) is chosen
    assert str(chosen) == "dump_heavy"


@pytest.mark.parametrize("spec", SPECS)
def test_every_spec_round_trips(spec):
    chosen = get_policy(spec)
    again = get_policy(chosen.name)
    assert again == chosen
    assert again.name == chosen.name == spec


def test_unknown_policy_names_the_choices_and_the_nearest():
    with pytest.raises(ValueError, match=r"unknown policy 'dump_hevy'") as error:
        get_policy("dump_hevy")
    assert "did you mean 'dump_heavy'?" in str(error.value)
    assert all(name in str(error.value) for name in [*BUILT_IN, "weights:", "mix:"])


def test_unknown_policy_far_from_all_has_no_hint():
    with pytest.raises(ValueError, match="unknown policy 'zzz'; choose from random"):
        get_policy("zzz")


def test_unknown_policy_inside_a_mixture_is_named():
    with pytest.raises(ValueError, match="unknown policy 'nobody'"):
        get_policy("mix:0.5*random+0.5*nobody")


def test_split_specs_keeps_parameters_with_their_spec():
    text = " random, weights:pips=1,double=3,,mix:0.5*scatter:which=1+0.5*random,scatter:which=2"
    assert split_specs(text) == [
        "random",
        "weights:pips=1,double=3",
        "mix:0.5*scatter:which=1+0.5*random",
        "scatter:which=2",
    ]


def test_split_specs_gives_back_any_list_of_specs():
    assert split_specs(",".join(SPECS)) == SPECS
    assert [p.name for p in read_policies(",".join(SPECS))] == SPECS


# ---------------------------------------------------------------------- weights


def test_weights_are_put_in_the_order_of_the_features():
    shuffled = get_policy("weights: lock=1.50 ,pips=01, double=0,range=-2")
    assert shuffled.name == "weights:pips=1,range=-2,lock=1.5"
    assert shuffled == get_policy("weights:pips=1,range=-2,lock=1.5")


def test_weights_are_kept_in_thousandths():
    ((share, part),) = get_policy("weights:pips=0.001,block=-12.345").parts
    assert share == 1
    assert part.stages[0].trigger == "always"
    assert part.stages[0].weights == {"pips": 1, "block": -12_345}


@pytest.mark.parametrize("number", ["0.0001", "1.0005", "1e-4"])
def test_weight_finer_than_a_thousandth_is_refused(number):
    with pytest.raises(ValueError, match="finer than a thousandth"):
        get_policy(f"weights:pips={number}")


def test_unknown_feature_names_the_choices():
    with pytest.raises(ValueError, match="unknown feature 'pisp'") as error:
        get_policy("weights:pisp=1")
    assert all(feature in str(error.value) for feature in FEATURES)


@pytest.mark.parametrize("spec", ["weights:pips=0", "weights:pips=0,double=-0.000"])
def test_weights_of_zero_are_refused(spec):
    with pytest.raises(ValueError, match="all weights are 0"):
        get_policy(spec)


def test_weights_are_taken_up_to_32_bits_and_no_further():
    largest = (2**31 - 1) // FEATURES["pips"].largest
    assert get_policy(f"weights:pips={Decimal(largest) / 1000}").parts[0][1].stages
    with pytest.raises(ValueError, match="too large"):
        get_policy(f"weights:pips={Decimal(largest + 1) / 1000}")
    with pytest.raises(ValueError, match="too large"):
        get_policy(f"weights:pips={Decimal(largest) / 1000},block=-0.1")


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("weights:", "is not name=number"),
        ("weights:pips", "'pips' is not name=number"),
        ("weights:=1", "'=1' is not name=number"),
        ("weights:pips=1,pips=2", "pips is given twice"),
        ("weights:pips=much", "'much' is not a number"),
        ("weights:pips=nan", "'nan' is not a number"),
        ("weights:pips=inf", "'inf' is not a number"),
        ("random:pips=1", "random has no parameter 'pips'; its parameters: none"),
        (
            "scatter:witch=1",
            r"no parameter 'witch' \(did you mean 'which'\?\); its parameters: which",
        ),
    ],
)
def test_broken_pairs_are_refused_with_the_spec(spec, complaint):
    with pytest.raises(ValueError, match=complaint) as error:
        get_policy(spec)
    assert spec.partition(":")[0] in str(error.value)


@pytest.mark.parametrize("number", ["1e999999", "1e99999", "1.00000000000000000000000000000001"])
def test_weight_out_of_any_range_is_refused_in_words(number):
    with pytest.raises(ValueError, match=r"too large|finer than a thousandth"):
        get_policy(f"weights:pips={number}")


@given(
    st.dictionaries(
        st.sampled_from(list(FEATURES)), st.integers(-9999, 9999).filter(bool), min_size=1
    )
)
@settings(deadline=None, max_examples=50, derandomize=True)
def test_any_weights_round_trip(weights):
    chosen = get_policy(
        "weights:" + ",".join(f"{f}={Decimal(w) / 1000}" for f, w in weights.items())
    )
    assert chosen.parts[0][1].stages[0].weights == weights
    assert get_policy(chosen.name) == chosen


# ---------------------------------------------------------------------- ladders


def stages_of(spec):
    ((_, part),) = get_policy(spec).parts
    return part.stages


def test_prefer_reads_triggers_signs_and_weights():
    read = stages_of("prefer: long_suit ? match > -lock > pips=1, double=0.5")
    assert read == (
        Stage("long_suit", {"match": 1000}),
        Stage("always", {"lock": -1000}),
        Stage("always", {"pips": 1000, "double": 500}),
    )


def test_prefer_writes_each_stage_as_short_as_it_can_be():
    spec = " prefer:  always?pips=1.0 >legal_double? double = 2, pips=-1>lock=-1"
    assert get_policy(spec).name == "prefer:pips>legal_double?pips=-1,double=2>-lock"


def test_prefer_may_name_ladders_whose_stages_stand_for_them():
    both = stages_of("keep_range") + stages_of("dump_heavy")
    assert stages_of("prefer:keep_range>dump_heavy") == both


def test_written_ladder_is_the_same_ladder():
    for name in list_policies()[: len(BUILTIN)]:
        ((_, part),) = get_policy(name).parts
        assert get_policy(write_ladder(part)).parts == get_policy(name).parts


def test_weights_are_a_ladder_of_one_stage():
    assert stages_of("prefer:pips=1,double=3") == stages_of("weights:pips=1,double=3")


@pytest.mark.parametrize(
    ("stages", "complaint"),
    [
        ("", "a stage is empty"),
        ("pips>", "a stage is empty"),
        ("pips>>lock", "a stage is empty"),
        ("long_suit?", "a stage is empty"),
        ("pisp", "stands by itself (did you mean 'pips'?); features: pips"),
        ("-keep_range", "'keep_range' is neither a feature"),
        ("long_suit?keep_range", "'keep_range' is neither a feature"),
        (
            "long?match",
            "trigger 'long' (did you mean 'long_suit'?); choose from always, even_hand",
        ),
        ("?match", "unknown trigger ''"),
        ("a?b?match", "unknown trigger 'a?b'"),
        ("pisp=1", "unknown feature 'pisp' (did you mean 'pips'?); choose from pips"),
        ("pips=0", "all weights are 0"),
        ("pips=1,pips=2", "pips is given twice"),
        ("pips=x", "'x' is not a number"),
        ("pips=1e9", "too large"),
        ("pips=0.0001", "finer than a thousandth"),
    ],
)
def test_bad_stage_is_named_with_its_choices(stages, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        get_policy(f"prefer:{stages}")


def test_ladder_is_registered_by_name_and_may_be_changed():
    first = ladder("mine", "hold_last > pips", "my way")
    assert (first.name, first.doc) == ("mine", "my way")
    assert stages_of("mine") == stages_of("prefer:hold_last>pips")
    assert policy_table()[-1]["source"] == "user's ladder"
    ladder("mine", "-pips")
    assert stages_of("mine") == stages_of("prefer:-pips")
    assert policy_table()[-1]["doc"] == "prefers -pips"


@pytest.mark.parametrize(
    "name", ["random", "scatter", "pips", "prefer", "weights", "mix", "a b", ""]
)
def test_ladder_takes_no_name_that_means_something_else(name):
    get_policy("scatter")
    before = policy_table()
    with pytest.raises(ValueError, match=f"{name!r}.*(taken|cannot name)"):
        ladder(name, "pips")
    assert policy_table() == before


@pytest.mark.parametrize("words", [("mine", ["pips"]), (None, "pips"), (1, 2)])
def test_ladder_is_a_name_and_a_text(words):
    with pytest.raises(TypeError, match="a name and the text of its stages"):
        ladder(*words)


def test_function_takes_no_name_of_a_ladder():
    ladder("mine", "pips")
    with pytest.raises(ValueError, match="'mine' is taken"):
        policy(name="mine")(lambda view: 0)


# ---------------------------------------------------------------------- mixtures


def test_mixture_plays_in_the_stated_shares():
    """By which tile is laid where the parts disagree; to four standard errors (1 in 16,000)."""
    mixed = "mix:0.3*prefer:pips+0.7*prefer:-pips"
    heavy = decisions = 0
    for deal in range(40):
        record = play("room-fish-all", [mixed] * 4, seed=11, deal=deal)
        for round_ in record.rounds:
            hands = [Hand.of(*names) for names in round_.hands]
            arms = []
            for number, event in enumerate(round_.events):
                moves = legal_codes(record.rules, hands[event.seat], arms)
                tile = tile_id(event.play[0].tile) if event.play else None
                pips = [Hand(move_tiles(move)).pips for move in moves]
                if tile is not None and len(set(pips)) > 1 and (number or not round_.forced):
                    decisions += 1
                    assert PIPS[tile] in (min(pips), max(pips))
                    heavy += PIPS[tile] == max(pips)
                if tile is not None:
                    hands[event.seat] = Hand(hands[event.seat] & ~(1 << tile))
                    arm = event.play[0].arm
                    if arms:
                        arms[arm] = PIPS[tile] - arms[arm]
                    else:
                        arms = [LOW[tile], HIGH[tile]]
    assert decisions > 4000
    assert abs(heavy - 0.3 * decisions) < 4 * (0.3 * 0.7 * decisions) ** 0.5


def test_mixture_keeps_shares_and_parts():
    mixed = get_policy("mix: 0.70*keep_range + 0.3* random")
    assert mixed.name == "mix:0.7*keep_range+0.3*random"
    assert [share for share, _ in mixed.parts] == [Fraction(7, 10), Fraction(3, 10)]
    assert [p for _, p in mixed.parts] == [get_policy(n).parts[0][1] for n in BUILT_IN[3::-3]]


def test_mixture_makes_the_names_of_its_parts_canonical():
    mixed = get_policy("mix:0.50*weights:double=3,pips=1.0+0.5*scatter:which=0")
    assert mixed.name == "mix:0.5*scatter+0.5*weights:pips=1,double=3"


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("mix:0.3*random+0.7*dump_heavy", "mix:0.7*dump_heavy+0.3*random"),
        ("mix:0.25*random+0.5*dump_heavy+0.25*random", "mix:0.5*dump_heavy+0.5*random"),
        ("mix:0.5*scatter:which=1+0.5*dump_heavy", "mix:0.5*dump_heavy+0.5*scatter:which=1"),
        # The ladder of dump_heavy under another name.
        ("mix:0.5*prefer:pips+0.25*dump_heavy+0.25*random", "mix:0.75*dump_heavy+0.25*random"),
        ("mix:1*random", "random"),
        ("mix:0.4*prefer:-pips+0.6*prefer:-pips", "prefer:-pips"),
    ],
)
def test_mixture_is_the_same_however_it_is_written(written, canonical):
    mixed = get_policy(written)
    assert mixed.name == canonical
    assert mixed == get_policy(canonical)
    plays = [
        play("room-fish-all", [spec, "keep_range"], seed=3, deal=1, engine="reference")
        for spec in (written, canonical)
    ]
    assert plays[0] == plays[1]


def test_mixture_picks_each_part_by_its_share_of_the_words():
    mixed = get_policy("mix:0.25*dump_heavy+0.75*random")
    heavy, anything = (part for _, part in mixed.parts)
    quarter = 2**30
    words = [0, quarter - 1, quarter, 2**32 - 1]
    assert [mixed.pick(word) for word in words] == [heavy, heavy, anything, anything]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0.5*random", "shares sum to 0.5, not 1"),
        ("0.5*random+0.6*dump_heavy", "shares sum to 1.1, not 1"),
        ("0.5*random+0.5*mix:1*random", "mixture of mixtures"),
        ("0*random+1*dump_heavy", "share 0 is not over 0"),
        ("-1*random+2*dump_heavy", "share -1 is not over 0"),
        ("half*random+0.5*dump_heavy", "'half' is not a number"),
        ("random", "'random' is not share\\*policy"),
        ("", "is not share\\*policy"),
    ],
)
def test_broken_mixture_is_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        get_policy(f"mix:{text}")


def test_mixture_with_very_fine_shares_round_trips():
    third = "3" * 40
    rest = "6" * 39 + "7"
    mixed = get_policy(f"mix:0.{third}*random+0.{rest}*dump_heavy")
    assert get_policy(mixed.name) == mixed


# ---------------------------------------------------------------------- functions


def test_policy_is_registered_under_its_function_name():
    @policy
    def fresh(view):
        """Plays nothing.

        Not in the table.
        """
        return 0

    assert isinstance(fresh, Policy)
    assert get_policy("fresh") == fresh
    (row,) = [row for row in policy_table() if row["name"] == "fresh"]
    assert row["doc"] == "Plays nothing."
    assert row["source"].startswith("test_policies.py sha256 ")


def test_policy_takes_another_name():
    assert policy(name="mine")(last_legal).name == "mine"
    assert "mine" in list_policies()


@pytest.mark.parametrize("name", ["weights", "mix", "two words", "1st", "a-b", "a:b"])
def test_policy_name_must_be_a_plain_word(name):
    with pytest.raises(ValueError, match="cannot name a policy"):
        policy(name=name)(last_legal)
    assert name not in list_policies()


@pytest.mark.parametrize("name", ["random", "scatter"])
def test_policy_name_of_another_is_refused(name):
    before = get_policy(name)
    with pytest.raises(ValueError, match=f"the name '{name}' is taken"):
        policy(name=name)(last_legal)
    assert get_policy(name) == before


def test_policy_may_be_defined_again_under_its_name():
    policy(words=True, which=2)(scatter)
    assert get_policy("scatter").parts[0][1].params == (2.0,)


def test_policy_parameters_reach_the_view_in_order():
    seen = []

    with pytest.warns(UserWarning, match="no memory"):

        @policy(second=2, first=-0.5)
        def watcher(view):
            seen.append(list(view.params))
            return last_legal(view)

    play("room-fish-all", ["watcher:first=4", "random"], seed=1, deal=0, engine="reference")
    assert seen
    assert all(params == [2.0, 4.0, 0, 0, 0, 0, 0, 0] for params in seen)


@pytest.mark.parametrize("words", [True, False])
def test_policy_gets_words_of_its_own_only_if_asked(words):
    seen = []

    with pytest.warns(UserWarning, match="no memory"):

        @policy(words=words)
        def watcher(view):
            seen.append(tuple(view.words))
            return last_legal(view)

    play("room-fish-all", ["watcher", "random"], seed=1, deal=0, engine="reference")
    if words:
        assert len(set(seen)) == len(seen) > 10
        assert all(0 <= word < 2**32 for own in seen for word in own)
    else:
        assert set(seen) == {(0, 0, 0, 0)}


def test_canonical_name_leaves_out_default_parameters():
    assert get_policy("scatter:which=0.0").name == "scatter"
    assert get_policy("scatter:which=1.50").name == "scatter:which=1.5"
    assert get_policy("scatter:which=1.5") != get_policy("scatter")


def test_policy_keeps_its_source():
    ((_, part),) = get_policy("scatter:which=1").parts
    assert isinstance(part, Function)
    assert "def scatter(view)" in part.source


@pytest.mark.parametrize("function", [lambda: 0, lambda view, more: 0, lambda view, k=1: 0])
def test_policy_of_a_wrong_signature_is_refused(function):
    with pytest.raises(TypeError, match="policy odd must take one argument, the view"):
        policy(name="odd")(function)
    assert "odd" not in list_policies()


def test_policy_with_more_parameters_than_the_view_holds_is_refused():
    assert policy(name="eight", **{f"p{i}": i for i in range(8)})(last_legal)
    with pytest.raises(ValueError, match="nine has 9 parameters; at most 8"):
        policy(name="nine", **{f"p{i}": i for i in range(9)})(last_legal)


def test_ladder_without_stages_is_the_random_policy():
    assert get_policy("random").parts == ((Fraction(1), Ladder()),)
